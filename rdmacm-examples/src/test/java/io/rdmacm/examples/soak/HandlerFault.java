// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.random.RandomGenerator;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.connection.AsyncOverflow;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.WorkCompletionException;

/** Handlers of connections that do what they should not, and senders that are faster than their peer. */
enum HandlerFault implements Scenario {
    /** Each method of the server's handler throws an exception, which changes nothing. */
    THROWS {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            serve(worker, fixture, random, new Echo(() -> {
                throw new LossException("thrown by a handler on purpose");
            }), server -> {
                try (Connection client = connect(worker, fixture, server)) {
                    exchange(worker, client, 1 + random.nextInt(MAX));
                    Messages.end(worker, client, true);
                }
            });
        }
    },
    /** The server's handler throws an Error, which ends this connection and no other. */
    THROWS_AN_ERROR {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            endedFromWithin(worker, fixture, random, _ -> {
                throw new OnPurpose();
            });
        }
    },
    /** The server's handler closes its connection, and no other. */
    CLOSES {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            endedFromWithin(worker, fixture, random, Connection::close);
        }
    },
    /** More asynchronous sends than may wait: those that are refused fail, and all others arrive. */
    OVERFLOWS {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            ConnectionSettings few = MessageFixture.settings(worker).async(1 + random.nextInt(MAX),
                    AsyncOverflow.REFUSE).build();
            CompletableFuture<Integer> accepted = new CompletableFuture<>();
            worker.runBoth(() -> {
                try (Connection connection = fixture.accept(worker)) {
                    int count = worker.join(accepted);
                    for (int i = 0; i < count; i++) {
                        Messages.receive(worker, connection, i);
                    }
                    Messages.end(worker, connection, false);
                }
            }, () -> {
                try (Connection connection = fixture.connect(worker, few)) {
                    List<CompletableFuture<Void>> sent = new ArrayList<>();
                    do {
                        sent.add(connection.async().send(payload(sent.size())));
                    } while (!sent.getLast().isCompletedExceptionally());
                    ExecutionException e = Expect.failure(ExecutionException.class, sent.removeLast()::get);
                    LossException.unless(e.getCause() instanceof RdmaException, "an overflow is reported as %s", e);
                    accepted.complete(sent.size());
                    LossException.unless(sent.size() <= few.asyncLimit() + 2 * MessageFixture.BUFFERS,
                            "%s sends are accepted, %s may wait", sent.size(), few.asyncLimit());
                    for (CompletableFuture<Void> send : sent) {
                        worker.join(send);
                    }
                    Messages.end(worker, connection, true);
                }
            });
        }
    },
    /** A handler that sends as much as there is room for, to a peer that does not receive before there is none. */
    WAITS_FOR_ROOM {
        @Override
        void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception {
            int count = 2 * MessageFixture.BUFFERS + random.nextInt(100);
            CompletableFuture<Void> full = new CompletableFuture<>();
            serve(worker, fixture, random, new ConnectionHandler() {
                private int next;

                @Override
                public void onConnect(Connection connection) throws Exception {
                    onWritable(connection);
                }

                @Override
                public void onWritable(Connection connection) throws Exception {
                    while (next < count && connection.queue().send(payload(next))) {
                        next++;
                    }
                    full.complete(null);
                }
            }, server -> {
                try (Connection client = connect(worker, fixture, server)) {
                    worker.join(full);
                    for (int i = 0; i < count; i++) {
                        Messages.receive(worker, client, i);
                    }
                }
            });
        }
    };

    private static final int MAX = 20;

    /** An Error without a stack, which is logged. */
    private static final class OnPurpose extends Error {
        private static final long serialVersionUID = 1L;

        OnPurpose() {
            super("thrown by a handler on purpose", null, false, false);
        }
    }

    /** What a handler does with its connection. */
    @FunctionalInterface
    private interface Deed {
        void done(Connection connection) throws Exception;
    }

    /** What clients do with a server. */
    @FunctionalInterface
    private interface Clients {
        void use(Listener server) throws Exception;
    }

    /** Sends back what it gets, and does something else in each method. */
    private record Echo(Worker.Task deed) implements ConnectionHandler {
        @Override
        public void onConnect(Connection connection) throws Exception {
            deed.run();
        }

        @Override
        public void onMessage(Connection connection, Message message) throws Exception {
            connection.async().send(MemorySegment.ofArray(message.toArray()));
            deed.run();
        }

        @Override
        public void onDisconnect(Connection connection, RdmaException reason) throws Exception {
            connection.close();
            deed.run();
        }
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        inject(worker, MessageFixture.of(worker), random);
        worker.counters().countFault(toString());
    }

    abstract void inject(Worker worker, MessageFixture fixture, RandomGenerator random) throws Exception;

    /** Runs clients of a server that has a handler, called by a loop or by another thread of the library. */
    private static void serve(Worker worker, MessageFixture fixture, RandomGenerator random, ConnectionHandler handler,
            Clients clients) throws Exception {
        ConnectionSettings.Builder settings = MessageFixture.settings(worker).handler(handler);
        try (MessageFixture own = MessageFixture.open(worker)) {
            if (random.nextBoolean()) {
                settings.loops(own.servers().startLoops(LoopSettings.defaults()));
            }
            clients.use(own.servers().serve(worker.anyPort(), 16, settings.build()));
        }
    }

    private static Connection connect(Worker worker, MessageFixture fixture, Listener server) throws Exception {
        Connection connection = fixture.clients().connect(server.address(), MessageFixture.settings(worker).build(),
                worker.timeout());
        worker.counters().countConnection();
        return connection;
    }

    /** A message of an odd length makes the server's handler end its connection; another one goes on. */
    private static void endedFromWithin(Worker worker, MessageFixture fixture, RandomGenerator random, Deed deed)
            throws Exception {
        serve(worker, fixture, random, new ConnectionHandler() {
            @Override
            public void onMessage(Connection connection, Message message) throws Exception {
                if (message.length() % 2 == 1) {
                    deed.done(connection);
                } else {
                    connection.async().send(MemorySegment.ofArray(message.toArray()));
                }
            }
        }, server -> {
            try (Connection client = connect(worker, fixture, server);
                    Connection other = connect(worker, fixture, server)) {
                exchange(worker, other, 1);
                exchange(worker, client, random.nextInt(MAX));
                client.send(new byte[1], worker.timeout());
                Expect.failureOf(() -> client.receive(worker.timeout()).close(), DisconnectedException.class,
                        WorkCompletionException.class);
                exchange(worker, other, 1 + random.nextInt(MAX));
            }
        });
    }

    private static void exchange(Worker worker, Connection connection, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            connection.send(payload(i), worker.timeout());
            Messages.receive(worker, connection, i);
        }
    }

    private static MemorySegment payload(int number) {
        MemorySegment memory = MemorySegment.ofArray(new byte[Payload.HEADER + 2 * (number % 1000)]);
        Payload.write(memory, number);
        return memory;
    }

    @Override
    public String toString() {
        return "handler-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
