// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;

/** Calls the service. All methods throw StatusRuntimeException if the call fails. */
record GreeterClient(Channel channel) {
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
    String upload(Amount amount) throws Exception {
        Recorded<byte[], String> call = Recorded.sending(amount);
        ClientCalls.asyncClientStreamingCall(channel.newCall(Methods.UPLOAD, CallOptions.DEFAULT), call);
        return call.answer();
    }

    /** Returns the tally of what came back. */
    String echo(Amount amount) throws Exception {
        Recorded<byte[], byte[]> call = Recorded.sending(amount);
        ClientCalls.asyncBidiStreamingCall(channel.newCall(Methods.ECHO, CallOptions.DEFAULT), call);
        assertThat(call.end()).isEqualTo(Status.OK);
        Tally tally = new Tally();
        for (int i = 0; i < amount.messages(); i++) {
            tally.add(call.answer());
        }
        return tally.toString();
    }
}
