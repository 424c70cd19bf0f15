// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.random.RandomGenerator;

import io.rdmacm.core.nio.RdmaSelectorProvider;

/** Channels of java.nio: blocking clients of a server with a selector. */
final class NioChannels implements Scenario {
    private static final int LONGEST = 300_000;
    private static final int MAX = 8;

    /** A thread that sends back what channels receive. */
    private static final class Server implements Closeable {
        private final ServerSocketChannel listening;
        private final Selector selector;
        private final Thread thread;

        Server(Worker worker) throws IOException {
            listening = RdmaSelectorProvider.instance().openServerSocketChannel();
            listening.bind(worker.anyPort());
            listening.configureBlocking(false);
            selector = RdmaSelectorProvider.instance().openSelector();
            listening.register(selector, SelectionKey.OP_ACCEPT);
            thread = Thread.ofPlatform().name("selector").start(this::run);
        }

        private void run() {
            try {
                while (selector.isOpen()) {
                    selector.select(this::serve);
                }
            } catch (IOException | ClosedSelectorException e) {
                // The server is closed.
            }
        }

        private void serve(SelectionKey key) {
            try {
                if (key.isAcceptable()) {
                    SocketChannel accepted = listening.accept();
                    if (accepted != null) {
                        accepted.configureBlocking(false);
                        accepted.register(selector, SelectionKey.OP_READ, ByteBuffer.allocateDirect(LONGEST).flip());
                    }
                } else {
                    echo(key, (SocketChannel) key.channel(), (ByteBuffer) key.attachment());
                }
            } catch (IOException e) {
                // The client gives up: its channel is closed, and no other.
                closeQuietly(key.channel());
            }
        }

        private static void echo(SelectionKey key, SocketChannel channel, ByteBuffer data) throws IOException {
            if (!data.hasRemaining() && channel.read(data.clear()) < 0) {
                channel.close();
                return;
            }
            if (key.interestOps() == SelectionKey.OP_READ) {
                data.flip();
            }
            channel.write(data);
            key.interestOps(data.hasRemaining() ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        }

        private static void closeQuietly(Closeable channel) {
            try {
                channel.close();
            } catch (IOException e) {
                // It is closed all the same.
            }
        }

        @Override
        public void close() throws IOException {
            for (SelectionKey key : selector.keys()) {
                closeQuietly(key.channel());
            }
            selector.close();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        Server server = worker.shared(Server.class, () -> new Server(worker));
        try (SocketChannel channel = RdmaSelectorProvider.instance().openSocketChannel()) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.connect(server.listening.getLocalAddress());
            worker.counters().countConnection();
            int count = 1 + random.nextInt(MAX);
            for (int i = 0; i < count; i++) {
                Echoed.exchange(worker, random.nextLong(), Payload.HEADER + random.nextInt(LONGEST), channel::write,
                        channel::read);
            }
            if (random.nextBoolean()) {
                channel.shutdownOutput();
                LossException.unless(channel.read(ByteBuffer.allocate(1)) == -1,
                        "the end of a channel was not delivered");
            }
        }
    }
}
