// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

/** The service. */
final class Greeter implements BindableService {
    @Override
    public ServerServiceDefinition bindService() {
        return ServerServiceDefinition.builder(Methods.SERVICE)
                .addMethod(Methods.HELLO, ServerCalls.asyncUnaryCall(Greeter::hello))
                .addMethod(Methods.DOWNLOAD, ServerCalls.asyncServerStreamingCall(Greeter::download))
                .addMethod(Methods.UPLOAD, ServerCalls.asyncClientStreamingCall(Greeter::upload))
                .addMethod(Methods.ECHO, ServerCalls.asyncBidiStreamingCall(Greeter::echo))
                .build();
    }

    private static void hello(String name, StreamObserver<String> answers) {
        answers.onNext("Hello " + name);
        answers.onCompleted();
    }

    private static void download(Amount amount, StreamObserver<byte[]> answers) {
        ServerCallStreamObserver<byte[]> call = (ServerCallStreamObserver<byte[]>) answers;
        // With a handler, what is sent after the client has cancelled is dropped, and does not fail.
        call.setOnCancelHandler(() -> { });
        call.setOnReadyHandler(new Sending(call, amount));
    }

    private static StreamObserver<byte[]> upload(StreamObserver<String> answers) {
        return new Uploaded(answers);
    }

    private static StreamObserver<byte[]> echo(StreamObserver<byte[]> answers) {
        return new Echoing((ServerCallStreamObserver<byte[]>) answers);
    }

    /** Takes what is uploaded. */
    private static final class Uploaded implements StreamObserver<byte[]> {
        private final Tally tally = new Tally();
        private final StreamObserver<String> answers;

        Uploaded(StreamObserver<String> answers) {
            this.answers = answers;
        }

        @Override
        public void onNext(byte[] message) {
            tally.add(message);
        }

        @Override
        public void onError(Throwable cancelled) {
            // There is nobody to answer.
        }

        @Override
        public void onCompleted() {
            answers.onNext(tally.toString());
            answers.onCompleted();
        }
    }

    /** Asks for the next message only when there is room for its answer. */
    private static final class Echoing implements StreamObserver<byte[]> {
        private final ServerCallStreamObserver<byte[]> call;
        private boolean asked;

        Echoing(ServerCallStreamObserver<byte[]> call) {
            this.call = call;
            call.disableAutoRequest();
            call.setOnCancelHandler(() -> { });
            call.setOnReadyHandler(this::ask);
        }

        private void ask() {
            if (!asked && call.isReady()) {
                asked = true;
                call.request(1);
            }
        }

        @Override
        public void onNext(byte[] message) {
            call.onNext(message);
            asked = false;
            ask();
        }

        @Override
        public void onError(Throwable cancelled) {
            // There is nobody to answer.
        }

        @Override
        public void onCompleted() {
            call.onCompleted();
        }
    }
}
