// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.FutureTask;

/** A program that sends files by their channels; the arguments are the addresses that it sends them to. */
public final class FileTransfersProgram {
    private static final int SIZE = 3_000_001;

    private FileTransfersProgram() {
    }

    /** Prints whether what was received is what was sent, in both blocking modes. */
    public static void main(String[] arguments) throws Exception {
        byte[] data = new byte[SIZE];
        for (int i = 0; i < SIZE; i++) {
            data[i] = (byte) (i * 31 + (i >> 11));
        }
        Path source = Files.write(Files.createTempFile("source", ""), data);
        Path target = Files.createTempFile("target", "");
        try {
            for (String address : arguments) {
                for (boolean blocking : new boolean[] {true, false}) {
                    transfer(InetAddress.getByName(address), blocking, source, target);
                    System.out.println(address + (Files.mismatch(source, target) < 0));
                }
                System.out.println("beyond 2 GiB " + large(InetAddress.getByName(address), target));
            }
        } finally {
            Files.delete(source);
            Files.delete(target);
        }
    }

    private static void transfer(InetAddress address, boolean blocking, Path source, Path target) throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(0));
                SocketChannel client = SocketChannel.open(
                        new InetSocketAddress(address, server.socket().getLocalPort()));
                SocketChannel accepted = server.accept();
                FileChannel from = FileChannel.open(source);
                FileChannel to = FileChannel.open(target, StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING)) {
            client.configureBlocking(blocking);
            accepted.configureBlocking(blocking);
            FutureTask<Void> sending = new FutureTask<>(() -> {
                all(client, SelectionKey.OP_WRITE, done -> from.transferTo(done, SIZE - done, client));
                return null;
            });
            Thread.ofPlatform().start(sending);
            all(accepted, SelectionKey.OP_READ, done -> to.transferFrom(accepted, done, SIZE - done));
            sending.get();
        }
    }

    /** The end of a sparse file, asked for as if all files were endless. */
    private static boolean large(InetAddress address, Path file) throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(0));
                SocketChannel client = SocketChannel.open(
                        new InetSocketAddress(address, server.socket().getLocalPort()));
                SocketChannel accepted = server.accept();
                FileChannel sparse = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING)) {
            long begin = 3L << 30;
            sparse.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), begin);
            boolean nothing = sparse.transferTo(begin + 3, Long.MAX_VALUE, client) == 0
                    && sparse.transferTo(begin, 0, client) == 0;
            long sent = sparse.transferTo(begin, Long.MAX_VALUE, client);
            long received = sparse.transferFrom(accepted, begin + 1, 3);
            ByteBuffer back = ByteBuffer.allocate(10);
            boolean copied = sparse.read(back, begin) == 4 && Arrays.equals(back.array(), 0, 4,
                    new byte[] {1, 1, 2, 3}, 0, 4);
            client.configureBlocking(false);
            long partly = sparse.transferTo(0, Long.MAX_VALUE, client);
            client.shutdownOutput();
            long rest = sparse.transferFrom(accepted, 0, Long.MAX_VALUE);
            return nothing && sent == 3 && received == 3 && copied && partly > 0 && partly < begin && rest == partly;
        }
    }

    /** Transfers a part, after so much. */
    private interface Part {
        long transfer(long done) throws Exception;
    }

    private static void all(SocketChannel channel, int operation, Part part) throws Exception {
        try (Selector selector = Selector.open()) {
            if (!channel.isBlocking()) {
                channel.register(selector, operation);
            }
            for (long done = 0; done < SIZE; done += part.transfer(done)) {
                if (!channel.isBlocking()) {
                    selector.select();
                    selector.selectedKeys().clear();
                }
            }
        }
    }
}
