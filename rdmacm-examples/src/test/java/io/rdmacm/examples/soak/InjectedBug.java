// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.FileInputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.random.RandomGenerator;

import io.netty.buffer.ByteBuf;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.Message;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.netty.RdmaIoHandler;

/** Scenarios with an error that the soak must find, to prove that it does. Only {@code --only} runs them. */
enum InjectedBug implements Scenario {
    /** A native object is never closed. */
    LEAKED_OBJECT {
        @Override
        public void run(Worker worker, RandomGenerator random) throws Exception {
            LEAKED.add(EventChannel.open());
        }
    },
    /** A file is never closed. */
    LEAKED_FILE {
        @Override
        public void run(Worker worker, RandomGenerator random) throws Exception {
            LEAKED.add(new FileInputStream("/dev/null"));
        }
    },
    /** Native memory is never freed. */
    LEAKED_MEMORY {
        @Override
        public void run(Worker worker, RandomGenerator random) throws Exception {
            Thread.sleep(20);
            Arena.global().allocate(CHUNK).fill((byte) 1);
        }
    },
    /** A message is dropped. */
    LOST_MESSAGE {
        @Override
        public void run(Worker worker, RandomGenerator random) throws Exception {
            MessageFixture fixture = MessageFixture.of(worker);
            worker.runBoth(() -> {
                try (Connection connection = fixture.accept(worker)) {
                    connection.receive(worker.timeout()).close();
                    Messages.receive(worker, connection, 1);
                }
            }, () -> {
                try (Connection connection = fixture.connect(worker)) {
                    for (int i = 1; i <= 2; i++) {
                        Messages.send(worker, connection, i, Payload.HEADER);
                    }
                    connection.disconnect(worker.timeout());
                }
            });
        }
    },
    /** One byte of a message is changed. */
    WRONG_BYTE {
        @Override
        public void run(Worker worker, RandomGenerator random) throws Exception {
            MessageFixture fixture = MessageFixture.of(worker);
            worker.runBoth(() -> {
                try (Connection connection = fixture.accept(worker);
                        Message message = connection.receive(worker.timeout())) {
                    Payload.check(message.memory(), 1);
                }
            }, () -> {
                try (Connection connection = fixture.connect(worker)) {
                    byte[] data = new byte[MessageFixture.SIZE];
                    Payload.write(MemorySegment.ofArray(data), 1);
                    data[Payload.HEADER + random.nextInt(data.length - Payload.HEADER)]++;
                    connection.send(data, worker.timeout());
                    connection.disconnect(worker.timeout());
                }
            });
        }
    },
    /** A server sends back something else. */
    WRONG_ECHO {
        @Override
        public void run(Worker worker, RandomGenerator random) throws Exception {
            exchangeOnce(worker, random, stream -> {
                ByteBuffer data = ByteBuffer.allocate(PART);
                int length = stream.read(data, worker.timeout());
                data.put(random.nextInt(length), (byte) ~data.get(length - 1));
                stream.write(data.flip(), worker.timeout());
            });
        }
    },
    /** A thread of a server fails, of which its clients see nothing. */
    FAILED_SERVER {
        @Override
        public void run(Worker worker, RandomGenerator random) throws Exception {
            exchangeOnce(worker, random, stream -> {
                ByteBuffer data = ByteBuffer.allocate(PART);
                while (stream.read(data, worker.timeout()) >= 0) {
                    stream.write(data.flip(), worker.timeout());
                    data.clear();
                }
                throw new IllegalStateException("a server that fails on purpose");
            });
        }
    },
    /** A buffer of Netty is not released. */
    LEAKED_BUFFER {
        @Override
        public void run(Worker worker, RandomGenerator random) throws Exception {
            try (NettyChannels.Loop loop = new NettyChannels.Loop(RdmaIoHandler.newFactory())) {
                ByteBuf ignored = loop.buffers().buffer(1);
            }
        }
    },
    /** A peer that ends is not noticed. */
    UNNOTICED_END {
        @Override
        public void run(Worker worker, RandomGenerator random) throws Exception {
            Expect.failureOf(() -> new Exchanges(new Streams()).run(worker, random), Layer.ENDED);
        }
    },
    /** The thread waits for something that never happens. */
    HANG {
        @Override
        public void run(Worker worker, RandomGenerator random) throws Exception {
            new CountDownLatch(1).await();
        }
    };

    private static final int PART = 1000;
    private static final long CHUNK = 64 << 10;
    private static final List<AutoCloseable> LEAKED = Collections.synchronizedList(new ArrayList<>());

    /** Runs a client of a server that serves each client in a wrong way. */
    private static void exchangeOnce(Worker worker, RandomGenerator random,
            AcceptingServer.Service<RdmaStream> service) throws Exception {
        RdmaStreamServer listener = RdmaStreamServer.listen(worker.anyPort());
        try (Layer.Server server = new AcceptingServer<>(worker, listener, listener.localAddress(),
                () -> listener.accept(worker.timeout()), service);
                Layer.Client client = new Streams().client(worker, random)) {
            client.connect(server.address());
            client.exchange(random.nextLong(), Payload.HEADER + random.nextInt(PART - Payload.HEADER));
            client.end();
        }
    }

    /** Closes the leaked objects. */
    static void cleanUp() throws Exception {
        for (AutoCloseable leaked : LEAKED) {
            leaked.close();
        }
        LEAKED.clear();
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
