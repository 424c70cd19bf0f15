// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.random.RandomGenerator;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.verbs.error.RdmaClosedException;

/** Streams of bytes. */
final class Streams implements Layer {
    private static final int BUFFER = 100_000;

    @Override
    public Server serve(Worker worker) throws IOException {
        RdmaStreamServer server = RdmaStreamServer.listen(worker.anyPort());
        return new AcceptingServer<>(worker, server, server.localAddress(), () -> server.accept(worker.timeout()),
                stream -> {
                    ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
                    while (stream.read(buffer, worker.timeout()) >= 0) {
                        stream.write(buffer.flip(), worker.timeout());
                        buffer.clear();
                    }
                });
    }

    private record StreamClient(RdmaStream stream, Worker worker) implements Client {
        @Override
        public void connect(InetSocketAddress server) throws Exception {
            stream.startConnect(server);
            stream.finishConnect(worker.timeout());
        }

        @Override
        public void exchange(long number, int length) throws Exception {
            Echoed.exchange(number, length, source -> {
                stream.write(source, worker.timeout());
                return 1;
            }, target -> stream.read(target, worker.timeout()));
        }

        @Override
        public void end() throws Exception {
            stream.shutdownOutput();
            LossException.unless(stream.read(ByteBuffer.allocate(1), worker.timeout()) == -1,
                    "the end of a stream was not delivered");
        }

        @Override
        public void close() throws IOException {
            stream.close();
        }
    }

    @Override
    public Client client(Worker worker, RandomGenerator random) throws IOException {
        return new StreamClient(RdmaStream.open(), worker);
    }

    @Override
    public List<Class<? extends Exception>> closed() {
        return List.of(RdmaClosedException.class);
    }

    @Override
    public String toString() {
        return "streams";
    }
}
