// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.FileInputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.random.RandomGenerator;

import io.rdmacm.core.EventChannel;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.Message;

/** Acts that do on purpose what a soak must find: a proof that it does. Played only when asked for. */
enum Sabotage implements Act {
    /** A native object is not closed. */
    LEAKED_OBJECT {
        @Override
        public void play(Stage stage, RandomGenerator random) throws Exception {
            LOST.add(EventChannel.open());
        }
    },
    /** A file is not closed. */
    LEAKED_FILE {
        @Override
        public void play(Stage stage, RandomGenerator random) throws Exception {
            LOST.add(new FileInputStream("/dev/null"));
        }
    },
    /** Memory outside the heap is used and never freed. */
    LEAKED_MEMORY {
        @Override
        public void play(Stage stage, RandomGenerator random) throws Exception {
            Thread.sleep(20);
            Arena.global().allocate(CHUNK).fill((byte) 1);
        }
    },
    /** A message is dropped. */
    LOST_MESSAGE {
        @Override
        public void play(Stage stage, RandomGenerator random) throws Exception {
            MessageStand stand = MessageStand.of(stage);
            stage.together(() -> {
                try (Connection connection = stand.accept(stage)) {
                    connection.receive(stage.patience()).close();
                    Messages.receive(stage, connection, 1);
                }
            }, () -> {
                try (Connection connection = stand.connect(stage)) {
                    for (int i = 1; i <= 2; i++) {
                        Messages.send(stage, connection, i, Payload.HEADER);
                    }
                    connection.disconnect(stage.patience());
                }
            });
        }
    },
    /** One byte of a message is changed. */
    WRONG_BYTE {
        @Override
        public void play(Stage stage, RandomGenerator random) throws Exception {
            MessageStand stand = MessageStand.of(stage);
            stage.together(() -> {
                try (Connection connection = stand.accept(stage);
                        Message message = connection.receive(stage.patience())) {
                    Payload.check(message.memory(), 1);
                }
            }, () -> {
                try (Connection connection = stand.connect(stage)) {
                    byte[] data = new byte[MessageStand.SIZE];
                    Payload.write(MemorySegment.ofArray(data), 1);
                    data[Payload.HEADER + random.nextInt(data.length - Payload.HEADER)]++;
                    connection.send(data, stage.patience());
                    connection.disconnect(stage.patience());
                }
            });
        }
    },
    /** Something is waited for that never comes. */
    HANG {
        @Override
        public void play(Stage stage, RandomGenerator random) throws Exception {
            new CountDownLatch(1).await();
        }
    };

    private static final long CHUNK = 64 << 10;
    private static final List<AutoCloseable> LOST = Collections.synchronizedList(new ArrayList<>());

    /** Closes what was lost. */
    static void repair() throws Exception {
        for (AutoCloseable lost : LOST) {
            lost.close();
        }
        LOST.clear();
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
