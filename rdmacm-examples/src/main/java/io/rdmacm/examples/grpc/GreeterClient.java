// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;

/** Calls the service. All methods throw StatusRuntimeException if the call fails. */
final class GreeterClient {
    private final Channel channel;

    GreeterClient(Channel channel) {
        this.channel = channel;
    }

    String hello(String name) {
        return ClientCalls.blockingUnaryCall(channel, Methods.HELLO, CallOptions.DEFAULT, name);
    }

    /** Returns the tally of what was received. */
    String download(Amount amount) {
        Tally tally = new Tally();
        // The iterator asks for the next message when it is asked for one.
        ClientCalls.blockingServerStreamingCall(channel, Methods.DOWNLOAD, CallOptions.DEFAULT, amount)
                .forEachRemaining(tally::add);
        return tally.toString();
    }

    /** Returns the tally of what the server received. */
    String upload(Amount amount) throws InterruptedException {
        Answers<String> answers = new Answers<>(amount) {
            private String answer;

            @Override
            public void onNext(String value) {
                answer = value;
            }

            @Override
            String result() {
                return answer;
            }
        };
        ClientCalls.asyncClientStreamingCall(channel.newCall(Methods.UPLOAD, CallOptions.DEFAULT), answers);
        return answers.await();
    }

    /** Returns the tally of what came back. */
    String echo(Amount amount) throws InterruptedException {
        Answers<byte[]> answers = new Answers<>(amount) {
            private final Tally tally = new Tally();

            @Override
            public void onNext(byte[] value) {
                tally.add(value);
            }

            @Override
            String result() {
                return tally.toString();
            }
        };
        ClientCalls.asyncBidiStreamingCall(channel.newCall(Methods.ECHO, CallOptions.DEFAULT), answers);
        return answers.await();
    }

    /**
     * Sends an amount of messages, and takes the answers.
     *
     * @param <A> an answer
     */
    private abstract static class Answers<A> implements ClientResponseObserver<byte[], A> {
        private final CompletableFuture<String> end = new CompletableFuture<>();
        private final Amount amount;
        private ClientCallStreamObserver<byte[]> call;

        Answers(Amount amount) {
            this.amount = amount;
        }

        abstract String result();

        @Override
        public void beforeStart(ClientCallStreamObserver<byte[]> requests) {
            call = requests;
            requests.setOnReadyHandler(new Sending(requests, amount));
        }

        @Override
        public void onError(Throwable failure) {
            end.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            end.complete(result());
        }

        String await() throws InterruptedException {
            try {
                return end.get();
            } catch (InterruptedException e) {
                call.cancel("interrupted", e);
                throw e;
            } catch (ExecutionException e) {
                throw (StatusRuntimeException) e.getCause();
            }
        }
    }
}
