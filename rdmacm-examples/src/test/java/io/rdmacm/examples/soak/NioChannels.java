// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.random.RandomGenerator;

import io.rdmacm.core.nio.RdmaSelectorProvider;

/** Channels of java.nio, with selectors; half of the clients block. */
final class NioChannels implements Layer {
    private static final int BUFFER = 300_000;

    /** A thread that sends back what channels receive. */
    private static final class SelectorServer implements Server {
        private final Worker worker;
        private final ServerSocketChannel listening;
        private final Selector selector;
        private final Thread thread;
        private volatile boolean over;

        SelectorServer(Worker worker) throws IOException {
            this.worker = worker;
            listening = RdmaSelectorProvider.instance().openServerSocketChannel();
            listening.bind(worker.anyPort());
            listening.configureBlocking(false);
            selector = RdmaSelectorProvider.instance().openSelector();
            listening.register(selector, SelectionKey.OP_ACCEPT);
            thread = Thread.ofPlatform().name("selector").start(this::run);
        }

        private void run() {
            try (selector) {
                while (!over) {
                    selector.select(this::serve);
                }
                selector.keys().forEach(key -> closeQuietly(key.channel()));
                selector.selectNow();
                LossException.unless(selector.keys().isEmpty(), "a selector keeps the keys of closed channels");
            } catch (IOException | LossException | RuntimeException e) {
                worker.failed(e);
            }
        }

        private void serve(SelectionKey key) {
            try {
                if (key.isAcceptable()) {
                    SocketChannel accepted = listening.accept();
                    if (accepted != null) {
                        accepted.configureBlocking(false);
                        accepted.register(selector, SelectionKey.OP_READ, ByteBuffer.allocateDirect(BUFFER).flip());
                    }
                } else {
                    echo(key, (SocketChannel) key.channel(), (ByteBuffer) key.attachment());
                }
            } catch (IOException e) {
                // The client gives up: its channel is closed, and no other.
                if (key.channel() == listening) {
                    worker.failed(e);
                }
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
        public InetSocketAddress address() {
            return (InetSocketAddress) listening.socket().getLocalSocketAddress();
        }

        @Override
        public void close() {
            over = true;
            selector.wakeup();
            boolean interrupted = Thread.interrupted();
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public Server serve(Worker worker) throws IOException {
        return new SelectorServer(worker);
    }

    /** Waits in calls of its channel. */
    private static class BlockingClient implements Client {
        final SocketChannel channel = RdmaSelectorProvider.instance().openSocketChannel();

        BlockingClient() throws IOException {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }

        @Override
        public void connect(InetSocketAddress server) throws IOException {
            channel.connect(server);
        }

        @Override
        public void exchange(long number, int length) throws Exception {
            Echoed.exchange(number, length, this::write, this::read);
        }

        int write(ByteBuffer source) throws IOException {
            return channel.write(source);
        }

        int read(ByteBuffer target) throws IOException {
            return channel.read(target);
        }

        @Override
        public void end() throws Exception {
            channel.shutdownOutput();
            LossException.unless(read(ByteBuffer.allocate(1)) == -1, "the end of a channel was not delivered");
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Waits in a selector, which another one wakes at times. */
    private static final class SelectingClient extends BlockingClient {
        private final Selector selector = RdmaSelectorProvider.instance().openSelector();
        private final SelectionKey key;
        private final RandomGenerator random;
        private final int end;

        SelectingClient(RandomGenerator random) throws IOException {
            this.random = random;
            end = random.nextInt(3);
            channel.configureBlocking(false);
            key = channel.register(selector, 0);
        }

        private void await(int operation) throws IOException {
            key.interestOps(operation);
            do {
                if (random.nextInt(4) == 0) {
                    selector.wakeup();
                }
                int ignored = selector.select();
                if (Thread.interrupted()) {
                    throw new InterruptedIOException();
                }
            } while (!key.isReadable() && !key.isWritable() && !key.isConnectable());
            selector.selectedKeys().clear();
        }

        @Override
        public void connect(InetSocketAddress server) throws IOException {
            boolean connected = channel.connect(server);
            while (!connected) {
                await(SelectionKey.OP_CONNECT);
                connected = channel.finishConnect();
            }
        }

        @Override
        int write(ByteBuffer source) throws IOException {
            int length = super.write(source);
            if (source.hasRemaining()) {
                await(SelectionKey.OP_WRITE);
            }
            return length;
        }

        @Override
        int read(ByteBuffer target) throws IOException {
            int length = super.read(target);
            while (length == 0) {
                await(SelectionKey.OP_READ);
                length = super.read(target);
            }
            return length;
        }

        @Override
        public void close() throws IOException {
            switch (end) {
                case 0 -> key.cancel();
                case 1 -> selector.close();
                default -> super.close();
            }
            selector.wakeup();
            selector.close();
            super.close();
        }
    }

    @Override
    public Client client(Worker worker, RandomGenerator random) throws IOException {
        return random.nextBoolean() ? new BlockingClient() : new SelectingClient(random);
    }

    @Override
    public List<Class<? extends Exception>> closed() {
        return List.of(ClosedChannelException.class, ClosedSelectorException.class, CancelledKeyException.class);
    }

    @Override
    public List<Class<? extends Exception>> ended() {
        return List.of(IOException.class);
    }

    @Override
    public String toString() {
        return "nio";
    }
}
