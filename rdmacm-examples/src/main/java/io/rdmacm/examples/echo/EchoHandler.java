// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.echo;

import java.util.concurrent.CountDownLatch;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.error.RdmaException;

/** Sends each message back to the client it came from. */
record EchoHandler(CountDownLatch served, Echo program) implements ConnectionHandler {
    @Override
    public void onMessage(Connection connection, Message message) {
        try {
            if (!connection.queue().send(message.memory())) {
                sendLater(connection, message.retain());
            }
        } catch (RdmaException e) {
            report(e);
        }
    }

    /** A client that does not receive its answers occupies its own buffers, and holds up nobody else. */
    private void sendLater(Connection connection, Message message) {
        connection.async().send(message.memory()).whenComplete((sent, failure) -> {
            try {
                message.close();
            } catch (RdmaException e) {
                report(e);
            }
        });
    }

    @Override
    public void onDisconnect(Connection connection, RdmaException reason) {
        try (connection) {
            report(reason);
            program.print(connection.peerAddress() + " has left after " + connection.counters().messagesReceived()
                    + " messages");
        } catch (RdmaException e) {
            report(e);
        } finally {
            served.countDown();
        }
    }

    private void report(RdmaException failure) {
        if (!(failure instanceof DisconnectedException)) {
            program.report(failure);
        }
    }
}
