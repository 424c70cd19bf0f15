// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A program with many channels and one selector, which has both ends of each connection. The arguments are the address
 * of a device, the number of connections, and the size of their buffers, if it is not the default.
 */
public final class ManyChannelsProgram {
    // A server accepts no more at a time.
    private static final int BACKLOG = 128;
    private static final int LENGTH = 64;
    // Opened before it counts, and kept: what all share, and code.
    private static final int FIRST = 16;
    private static final int KIB = 1024;

    private final List<SocketChannel> channels = new ArrayList<>();
    private final Selector selector;
    private final ServerSocketChannel server;
    private final int bufferSize;
    private int connecting;
    private int echoed;
    private int overRdma;

    private ManyChannelsProgram(Selector selector, ServerSocketChannel server, int bufferSize) {
        this.selector = selector;
        this.server = server;
        this.bufferSize = bufferSize;
    }

    /** Prints how many went over RDMA and were answered, and what all took. */
    public static void main(String[] arguments) throws Exception {
        int connections = Integer.parseInt(arguments[1]);
        int size = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 0;
        try (Selector selector = Selector.open(); ServerSocketChannel server = ServerSocketChannel.open()) {
            if (size > 0) {
                server.setOption(StandardSocketOptions.SO_RCVBUF, size);
            }
            server.bind(new InetSocketAddress(InetAddress.getByName(arguments[0]), 0), BACKLOG)
                    .configureBlocking(false);
            server.register(selector, SelectionKey.OP_ACCEPT);
            new ManyChannelsProgram(selector, server, size).run(connections);
        }
        System.exit(0);
    }

    private void run(int connections) throws IOException {
        open(FIRST);
        long files = files();
        long pinned = pinned();
        long heap = heap();
        long begin = System.nanoTime();
        open(FIRST + connections);
        long opened = System.nanoTime();
        int count = channels.size() - 2 * FIRST;
        System.out.printf("%d of %d channels over RDMA, %d echoes%n", overRdma * 2 - 2 * FIRST, count,
                echoed - FIRST);
        System.out.printf("each: %.1f files, %.1f KiB heap, %.1f KiB pinned, opened in %.1f ms%n",
                (double) (files() - files) / count, (double) (heap() - heap) / count / KIB,
                (double) (pinned() - pinned) / count, (opened - begin) / 1e6 / count);
        begin = System.nanoTime();
        for (SocketChannel channel : channels) {
            channel.close();
        }
        selector.selectNow();
        System.out.printf("keys left: %d%n", selector.keys().size());
        while (files() > files) {
            // The rest of a close goes on in the background.
            Thread.yield();
        }
        System.out.printf("each closed in %.1f ms%n", (System.nanoTime() - begin) / 1e6 / channels.size());
    }

    /** Opens connections until so many have been answered. */
    private void open(int connections) throws IOException {
        while (echoed < connections) {
            // Each has one end until it is accepted.
            while (connecting < BACKLOG / 2 && echoed + connecting < connections) {
                connect();
            }
            selector.select(this::ready);
        }
    }

    private void connect() throws IOException {
        SocketChannel client = SocketChannel.open();
        client.configureBlocking(false);
        if (bufferSize > 0) {
            client.setOption(StandardSocketOptions.SO_SNDBUF, bufferSize)
                    .setOption(StandardSocketOptions.SO_RCVBUF, bufferSize);
        }
        client.register(selector, SelectionKey.OP_CONNECT);
        client.connect(server.getLocalAddress());
        channels.add(client);
        connecting++;
    }

    private void ready(SelectionKey key) {
        try {
            if (key.isAcceptable()) {
                accept();
                return;
            }
            SocketChannel channel = (SocketChannel) key.channel();
            ByteBuffer data = ByteBuffer.allocate(LENGTH);
            if (key.isConnectable()) {
                channel.finishConnect();
                channel.write(data);
                key.interestOps(SelectionKey.OP_READ);
            } else if (channel.read(data) == LENGTH) {
                if (key.attachment() == null) {
                    echoed++;
                    connecting--;
                } else {
                    channel.write(data.flip());
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void accept() throws IOException {
        for (SocketChannel accepted = server.accept(); accepted != null; accepted = server.accept()) {
            accepted.configureBlocking(false);
            accepted.register(selector, SelectionKey.OP_READ, this);
            channels.add(accepted);
            // What is accepted over TCP is a channel of the JDK.
            overRdma += accepted.provider() == SelectorProvider.provider() ? 1 : 0;
        }
    }

    private static long files() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    private static long pinned() throws IOException {
        try (Stream<String> status = Files.lines(Path.of("/proc/self/status"))) {
            return status.filter(line -> line.startsWith("VmPin:")).mapToLong(
                    line -> Long.parseLong(line.replaceAll("\\D", ""))).sum();
        }
    }

    private static long heap() {
        // The second collection frees what the first one has made unreachable, such as what cleaners held.
        System.gc();
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
