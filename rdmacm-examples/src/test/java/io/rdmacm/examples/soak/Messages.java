// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.Message;

/** The connection layer: messages to a server that sends each back, several under way at a time. */
final class Messages implements Scenario {
    private final int max;

    /**
     * Creates the scenario.
     *
     * @param max the most messages per connection
     */
    Messages(int max) {
        this.max = max;
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        MessageFixture fixture = MessageFixture.of(worker);
        long first = random.nextLong();
        int count = 1 + random.nextInt(max);
        int sizes = 1 + random.nextInt(MessageFixture.SIZE - Payload.HEADER);
        int atOnce = 1 + random.nextInt(MessageFixture.BUFFERS);
        boolean serverEnds = random.nextBoolean();
        worker.runBoth(() -> {
            try (Connection connection = fixture.accept(worker)) {
                echo(worker, connection, first, count);
                end(worker, connection, serverEnds);
            }
        }, () -> {
            try (Connection connection = fixture.connect(worker)) {
                int received = 0;
                for (int sent = 0; sent < count; sent++) {
                    send(worker, connection, first + sent, Payload.HEADER + Math.floorMod(first + sent, sizes));
                    if (sent - received + 1 == atOnce) {
                        receive(worker, connection, first + received++);
                    }
                }
                while (received < count) {
                    receive(worker, connection, first + received++);
                }
                end(worker, connection, !serverEnds);
            }
        });
    }

    /** Sends the payload of a number. */
    static void send(Worker worker, Connection connection, long number, int size)
            throws IOException, InterruptedException {
        MemorySegment memory = MemorySegment.ofArray(new byte[size]);
        Payload.write(memory, number);
        connection.send(memory, worker.timeout());
    }

    /** Receives the payload of a number. */
    static void receive(Worker worker, Connection connection, long number)
            throws IOException, InterruptedException, LossException {
        try (Message message = connection.receive(worker.timeout())) {
            Payload.check(message.memory(), number);
            worker.counters().countOperation("message", message.length());
        }
    }

    /** Receives the payloads of consecutive numbers, and sends each back. */
    static void echo(Worker worker, Connection connection, long first, int count)
            throws IOException, InterruptedException, LossException {
        for (int i = 0; i < count; i++) {
            try (Message message = connection.receive(worker.timeout())) {
                Payload.check(message.memory(), first + i);
                worker.counters().countOperation("message", message.length());
                connection.send(message.memory(), worker.timeout());
            }
        }
    }

    /** Disconnects, or waits for the other side to do so. */
    static void end(Worker worker, Connection connection, boolean own)
            throws IOException, InterruptedException, LossException {
        if (own) {
            connection.disconnect(worker.timeout());
        } else {
            Expect.failure(DisconnectedException.class, () -> connection.receive(worker.timeout()).close());
        }
    }
}
