// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.echo;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.Message;
import io.rdmacm.examples.support.Console;

/** Sends each message back; one virtual thread per client. */
record EchoServer(InetSocketAddress address, int clients, int size, Console console) {
    private static final int BACKLOG = 64;
    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

    /** Serves clients, and returns when the last one has disconnected. */
    void run() throws IOException, InterruptedException {
        ConnectionSettings settings = ConnectionSettings.builder().messageSize(size).build();
        try (ConnectionManager manager = ConnectionManager.open();
                Listener listener = manager.listen(address, BACKLOG, settings);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            console.print("listening on " + listener.address().getAddress().getHostAddress() + " port "
                    + listener.address().getPort());
            try {
                for (int i = 0; i < clients; i++) {
                    Connection connection = listener.accept(FOREVER);
                    threads.execute(() -> serve(connection));
                }
            } catch (IOException | InterruptedException e) {
                threads.shutdownNow();
                throw e;
            }
        }
    }

    private void serve(Connection connection) {
        long messages = 0;
        try (connection) {
            while (true) {
                try (Message message = connection.receive(FOREVER)) {
                    connection.send(message.memory(), FOREVER);
                    messages++;
                }
            }
        } catch (DisconnectedException e) {
            console.print(connection.peerAddress() + " has left after " + messages + " messages");
        } catch (IOException e) {
            console.report("echo: " + Console.describe(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
