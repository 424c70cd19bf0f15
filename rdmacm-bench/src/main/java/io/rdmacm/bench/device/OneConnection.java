// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.io.Serializable;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.WaitPolicy;

/** One end of a single connection, over which messages or data are measured. */
abstract class OneConnection extends ConnectionEnd {
    /** The size of the receive buffers where messages are larger. */
    static final int SMALL_MESSAGE = 1024;

    private static final int RECEIVES = 64;
    // the defaults, and the depth of the streams
    private static final int IN_FLIGHT = 16;
    private static final int LARGE_MESSAGES = 2;

    final ConnectionTrial trial;
    Connection connection;

    OneConnection(ConnectionTrial trial, Load load, boolean client) throws IOException {
        super(load, client);
        this.trial = trial;
    }

    /** {@return whether a loop drives the connection} */
    boolean loop() {
        return this instanceof ConnectionHandler;
    }

    @Override
    ConnectionSettings settings() throws IOException {
        WaitPolicy policy = switch (trial.polling()) {
            case BUSY, YIELD -> WaitPolicy.spinAlways();
            case EVENTS -> WaitPolicy.sleepAtOnce();
            case AWAIT -> WaitPolicy.defaults();
        };
        int reads = Port.find().reads();
        ConnectionSettings.Builder builder = ConnectionSettings.builder().messageSize(load.size())
                .receiveBuffers(RECEIVES).sendBuffers(IN_FLIGHT).operations(IN_FLIGHT).waiting(policy)
                .handler(this instanceof ConnectionHandler handler ? handler : null)
                .parameters(ConnectionParameters.builder().responderResources(reads).initiatorDepth(reads).build());
        if (trial.pattern() == ConnectionTrial.Pattern.LARGE) {
            builder.messageSize(SMALL_MESSAGE).largeMessages(load.size(), LARGE_MESSAGES);
        }
        if (loop()) {
            builder.loops(manager.startLoops(LoopSettings.builder().waiting(policy).build()));
        }
        return builder.build();
    }

    @Override
    public void connect(Serializable peer) throws IOException, InterruptedException {
        super.connect(peer);
        connection = own(client ? connect(1).getFirst() : listener.accept(LIMIT));
    }
}
