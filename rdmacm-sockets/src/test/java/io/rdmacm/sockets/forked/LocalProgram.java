// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** A program whose sockets are not for other hosts, or not TCP; the argument is the address of a device. */
public final class LocalProgram {
    // Of each, so that it would be seen in the packets of a device.
    private static final int SIZE = 60_000;
    private static final int TIMES = 10;

    private LocalProgram() {
    }

    /** Prints what came through, and ends when its input does. */
    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("local");
        Path path = folder.resolve("socket");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                .bind(UnixDomainSocketAddress.of(path))) {
            System.out.println("unix " + send(server, server.getLocalAddress()));
        } finally {
            Files.delete(path);
            Files.delete(folder);
        }
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(0))) {
            System.out.println("loopback " + send(server,
                    new InetSocketAddress(InetAddress.getByName("127.0.0.1"), server.socket().getLocalPort())));
        }
        InetAddress device = InetAddress.getByName(arguments[0]);
        try (DatagramChannel channel = DatagramChannel.open().bind(new InetSocketAddress(device, 0));
                DatagramSocket socket = new DatagramSocket(0, device)) {
            for (int i = 0; i < TIMES; i++) {
                channel.send(ByteBuffer.allocate(SIZE), socket.getLocalSocketAddress());
                socket.receive(new DatagramPacket(new byte[SIZE], SIZE));
            }
            System.out.println("datagrams " + TIMES * SIZE);
        }
        while (System.in.read() >= 0) {
            continue;
        }
    }

    private static int send(ServerSocketChannel server, SocketAddress address) throws Exception {
        try (SocketChannel client = SocketChannel.open(address); SocketChannel accepted = server.accept()) {
            Thread sending = Thread.ofPlatform().start(() -> {
                try {
                    ByteBuffer data = ByteBuffer.allocate(TIMES * SIZE);
                    while (data.hasRemaining()) {
                        client.write(data);
                    }
                    client.shutdownOutput();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            ByteBuffer received = ByteBuffer.allocate(TIMES * SIZE);
            while (received.hasRemaining() && accepted.read(received) >= 0) {
                continue;
            }
            sending.join();
            return received.position();
        }
    }
}
