// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.rdmacm.examples.testing.Program;

/**
 * The client's end of a call that the test drives.
 *
 * @param <Q> a request
 * @param <A> an answer
 */
final class Recorded<Q, A> implements ClientResponseObserver<Q, A> {
    private final Consumer<ClientCallStreamObserver<Q>> begin;
    private final BlockingQueue<A> answers = new LinkedBlockingQueue<>();
    private final CompletableFuture<Status> end = new CompletableFuture<>();
    private ClientCallStreamObserver<Q> call;

    private Recorded(Consumer<ClientCallStreamObserver<Q>> begin) {
        this.begin = begin;
    }

    /** Returns one that takes answers as they come. */
    static <Q, A> Recorded<Q, A> taking() {
        return new Recorded<>(requests -> { });
    }

    /** Returns one that takes only the answers that the test asks for. */
    static <Q, A> Recorded<Q, A> waiting() {
        return new Recorded<>(requests -> requests.disableAutoRequestWithInitial(0));
    }

    /** Returns one that takes answers as they come, and sends messages. */
    static <A> Recorded<byte[], A> sending(Amount amount) {
        return new Recorded<>(requests -> requests.setOnReadyHandler(new Sending(requests, amount)));
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<Q> requests) {
        call = requests;
        begin.accept(requests);
    }

    @Override
    public void onNext(A answer) {
        answers.add(answer);
    }

    @Override
    public void onError(Throwable failure) {
        end.complete(Status.fromThrowable(failure));
    }

    @Override
    public void onCompleted() {
        end.complete(Status.OK);
    }

    ClientCallStreamObserver<Q> call() {
        return call;
    }

    /** Returns the next answer. */
    A answer() throws InterruptedException {
        A answer = answers.poll(Program.LIMIT.toSeconds(), TimeUnit.SECONDS);
        if (answer == null) {
            throw new AssertionError("no answer; the end of the call: " + end);
        }
        return answer;
    }

    /** Returns how the call ended. */
    Status end() throws Exception {
        return end.get(Program.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }
}
