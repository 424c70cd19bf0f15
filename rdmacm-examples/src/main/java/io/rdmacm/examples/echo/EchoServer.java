// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.echo;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;

import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;

/** Accepts all clients and lets a thread of the library serve them with one {@link EchoHandler}. */
record EchoServer(InetSocketAddress address, int clients, int size, Echo program) {
    private static final int BACKLOG = 64;

    /** Serves clients, and returns when the given number of them have left. */
    void run() throws IOException, InterruptedException {
        CountDownLatch served = new CountDownLatch(clients);
        try (ConnectionManager manager = ConnectionManager.open()) {
            // The manager ends the loop after its connections.
            ConnectionSettings settings = ConnectionSettings.builder().messageSize(size)
                    .handler(new EchoHandler(served, program)).loops(manager.startLoops(LoopSettings.defaults()))
                    .build();
            try (Listener listener = manager.listen(address, BACKLOG, settings)) {
                program.print("listening on " + listener.address().getAddress().getHostAddress() + " port "
                        + listener.address().getPort());
                listener.acceptAll();
                served.await();
            }
        }
    }
}
