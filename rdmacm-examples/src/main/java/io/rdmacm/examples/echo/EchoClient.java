// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.echo;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Message;

/** Sends messages to an {@link EchoServer}, each after the previous one has come back. */
record EchoClient(InetSocketAddress server, int count, int size, Echo program) {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    /** Sends all messages, and checks that each comes back unchanged. */
    void run() throws IOException, InterruptedException {
        ConnectionSettings settings = ConnectionSettings.builder().messageSize(size).build();
        try (ConnectionManager manager = ConnectionManager.open();
                Connection connection = manager.connect(server, settings, TIMEOUT)) {
            long start = System.nanoTime();
            byte[] data = new byte[size];
            for (int i = 0; i < count; i++) {
                Arrays.fill(data, (byte) i);
                connection.send(data, TIMEOUT);
                try (Message echo = connection.receive(TIMEOUT)) {
                    if (!Arrays.equals(data, echo.toArray())) {
                        throw new IOException("message " + i + " came back different");
                    }
                }
            }
            program.print(count + " messages of " + size + " bytes came back, one in "
                    + (System.nanoTime() - start) / 1000 / count + " microseconds");
        }
    }
}
