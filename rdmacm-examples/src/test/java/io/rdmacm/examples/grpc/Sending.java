// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import io.grpc.stub.CallStreamObserver;

/**
 * Sends an amount of messages, as fast as the peer takes them: gRPC calls {@link #run} whenever there is room. A sender
 * that did not ask whether there is room would pile up messages in memory.
 */
final class Sending implements Runnable {
    private final CallStreamObserver<? super byte[]> receiver;
    private final Amount amount;
    private int sent;
    private boolean complete;

    Sending(CallStreamObserver<? super byte[]> receiver, Amount amount) {
        this.receiver = receiver;
        this.amount = amount;
    }

    @Override
    public void run() {
        while (sent < amount.messages() && receiver.isReady()) {
            receiver.onNext(amount.message(sent++));
        }
        if (sent == amount.messages() && !complete) {
            complete = true;
            receiver.onCompleted();
        }
    }
}
