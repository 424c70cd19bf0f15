// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;

/** Streams of bytes to a server that sends all of them back; either side ends first. */
final class Streams implements Scenario {
    private static final int LONGEST = 300_000;
    private static final int MAX = 8;

    /** The server of a worker. */
    private record Fixture(RdmaStreamServer server) implements Closeable {
        @Override
        public void close() throws IOException {
            server.close();
        }
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        RdmaStreamServer server = worker.shared(Fixture.class,
                () -> new Fixture(RdmaStreamServer.listen(worker.anyPort()))).server;
        int count = 1 + random.nextInt(MAX);
        int length = Payload.HEADER + random.nextInt(LONGEST);
        int size = 1 + random.nextInt(LONGEST);
        long first = random.nextLong();
        boolean halfClose = random.nextBoolean();
        worker.runBoth(() -> {
            try (RdmaStream stream = server.accept(worker.timeout())) {
                ByteBuffer buffer = ByteBuffer.allocate(size);
                while (stream.read(buffer, worker.timeout()) >= 0) {
                    stream.write(buffer.flip(), worker.timeout());
                    buffer.clear();
                }
            } catch (DisconnectedException e) {
                LossException.unless(!halfClose, "a stream has ended, although this side has not: %s", e);
            }
        }, () -> {
            try (RdmaStream stream = RdmaStream.connect(server.localAddress(), worker.timeout())) {
                worker.counters().countConnection();
                for (int i = 0; i < count; i++) {
                    Echoed.exchange(worker, first + i, length, source -> {
                        stream.write(source, worker.timeout());
                        return 1;
                    }, target -> stream.read(target, worker.timeout()));
                }
                if (halfClose) {
                    stream.shutdownOutput();
                    LossException.unless(stream.read(ByteBuffer.allocate(1), worker.timeout()) == -1,
                            "the end of a stream was not delivered");
                }
            }
        });
    }
}
