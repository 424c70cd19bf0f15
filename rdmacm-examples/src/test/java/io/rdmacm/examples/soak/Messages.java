// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.Message;

/** The connection layer: messages to a server that sends each back, some at once. */
final class Messages implements Act {
    private final int most;

    /**
     * The act.
     *
     * @param most so many messages a connection at most
     */
    Messages(int most) {
        this.most = most;
    }

    @Override
    public void play(Stage stage, RandomGenerator random) throws Exception {
        MessageStand stand = MessageStand.of(stage);
        long first = random.nextLong();
        int count = 1 + random.nextInt(most);
        int sizes = 1 + random.nextInt(MessageStand.SIZE - Payload.HEADER);
        int atOnce = 1 + random.nextInt(MessageStand.BUFFERS);
        boolean serverEnds = random.nextBoolean();
        stage.together(() -> {
            try (Connection connection = stand.accept(stage)) {
                echo(stage, connection, first, count);
                end(stage, connection, serverEnds);
            }
        }, () -> {
            try (Connection connection = stand.connect(stage)) {
                int received = 0;
                for (int sent = 0; sent < count; sent++) {
                    send(stage, connection, first + sent, Payload.HEADER + Math.floorMod(first + sent, sizes));
                    if (sent - received + 1 == atOnce) {
                        receive(stage, connection, first + received++);
                    }
                }
                while (received < count) {
                    receive(stage, connection, first + received++);
                }
                end(stage, connection, !serverEnds);
            }
        });
    }

    /** Sends the payload of a number. */
    static void send(Stage stage, Connection connection, long number, int size)
            throws IOException, InterruptedException {
        MemorySegment memory = MemorySegment.ofArray(new byte[size]);
        Payload.write(memory, number);
        connection.send(memory, stage.patience());
    }

    /** Receives the payload of a number. */
    static void receive(Stage stage, Connection connection, long number)
            throws IOException, InterruptedException, LossException {
        try (Message message = connection.receive(stage.patience())) {
            Payload.check(message.memory(), number);
            stage.tally().did("message", message.length());
        }
    }

    /** Sends back the payloads of the numbers from one on. */
    static void echo(Stage stage, Connection connection, long first, int count)
            throws IOException, InterruptedException, LossException {
        for (int i = 0; i < count; i++) {
            try (Message message = connection.receive(stage.patience())) {
                Payload.check(message.memory(), first + i);
                stage.tally().did("message", message.length());
                connection.send(message.memory(), stage.patience());
            }
        }
    }

    /** Ends the connection, or sees that the other side does. */
    static void end(Stage stage, Connection connection, boolean own)
            throws IOException, InterruptedException, LossException {
        if (own) {
            connection.disconnect(stage.patience());
        } else {
            Stage.failing(DisconnectedException.class, () -> connection.receive(stage.patience()).close());
        }
    }
}
