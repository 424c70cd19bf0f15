// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Future;

/** A program that leaves all open and returns: nothing keeps its JVM. The arguments are addresses. */
public final class ReturningProgram {
    private ReturningProgram() {
    }

    /** Prints what a channel does after a read was cancelled, and that it was there. */
    public static void main(String[] arguments) throws Exception {
        for (String argument : arguments) {
            InetAddress address = InetAddress.getByName(argument);
            ServerSocket server = new ServerSocket(0, 1, address);
            Socket client = new Socket(address, server.getLocalPort());
            server.accept().getOutputStream().write(client.getLocalPort());

            ServerSocketChannel listening = ServerSocketChannel.open().bind(new InetSocketAddress(address, 0));
            SocketChannel channel = SocketChannel.open(listening.getLocalAddress());
            listening.accept().configureBlocking(false).register(Selector.open(), SelectionKey.OP_READ)
                    .selector().selectNow();
            channel.write(ByteBuffer.allocate(1));

            AsynchronousServerSocketChannel accepting = AsynchronousServerSocketChannel.open()
                    .bind(new InetSocketAddress(address, 0));
            Future<AsynchronousSocketChannel> accepted = accepting.accept();
            AsynchronousSocketChannel reading = AsynchronousSocketChannel.open();
            reading.connect(accepting.getLocalAddress()).get();
            AsynchronousSocketChannel peer = accepted.get();
            accepting.accept();
            System.out.println("cancelled " + cancel(reading));
            peer.read(ByteBuffer.allocate(1));
            System.out.println("open " + (client.isConnected() && channel.isOpen() && accepting.isOpen()));
        }
    }

    /** As the JDK: a read that was cancelled is the last one, because nobody knows what it has taken. */
    private static boolean cancel(AsynchronousSocketChannel channel) throws Exception {
        Future<Integer> read = channel.read(ByteBuffer.allocate(1));
        if (!read.cancel(false) || !read.isCancelled() || !channel.isOpen()) {
            return false;
        }
        try {
            channel.read(ByteBuffer.allocate(1), null, new CompletionHandler<Integer, Void>() {
                @Override
                public void completed(Integer result, Void attachment) {
                    System.out.println("completed false");
                }

                @Override
                public void failed(Throwable failure, Void attachment) {
                    System.out.println("failed false");
                }
            });
            return false;
        } catch (IllegalStateException e) {
            return channel.write(ByteBuffer.allocate(1)).get() == 1;
        }
    }
}
