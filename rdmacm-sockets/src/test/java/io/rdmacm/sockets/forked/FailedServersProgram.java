// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

import io.rdmacm.core.internal.engine.CmLoop;
import io.rdmacm.verbs.error.RdmaException;

/**
 * A program whose servers fail over RDMA while they wait; the argument is the address of a device. They fail for good,
 * and the program connects to them; with another argument it prints their ports, and somebody else does.
 */
public final class FailedServersProgram {
    private FailedServersProgram() {
    }

    /** Prints for each kind of server whether it has accepted a client all the same. */
    public static void main(String[] arguments) throws Exception {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getByName(arguments[0]), 0);
        try (ServerSocketChannel channel = ServerSocketChannel.open().bind(any);
                ServerSocketChannel selected = ServerSocketChannel.open().bind(any);
                ServerSocket socket = new ServerSocket(0, 0, any.getAddress());
                AsynchronousServerSocketChannel asynchronous = AsynchronousServerSocketChannel.open().bind(any);
                Selector selector = Selector.open()) {
            selected.configureBlocking(false);
            selected.register(selector, SelectionKey.OP_ACCEPT);
            FutureTask<?> waiting = start(channel::accept);
            FutureTask<?> waitingSelector = start(() -> select(selector, selected));
            FutureTask<?> waitingSocket = start(socket::accept);
            Future<?> waitingAsynchronous = asynchronous.accept();
            if (arguments.length == 1) {
                CmLoop loop = CmLoop.acquire();
                loop.failAll(new RdmaException("rdma_get_cm_event", "the device is gone"));
                loop.release();
            }
            for (SocketAddress server : List.of(channel.getLocalAddress(), selected.getLocalAddress(),
                    socket.getLocalSocketAddress(), asynchronous.getLocalAddress())) {
                if (arguments.length == 1) {
                    connect(server);
                } else {
                    System.out.println(((InetSocketAddress) server).getPort());
                }
            }
            System.out.println("channel " + (waiting.get() != null));
            System.out.println("selector " + (waitingSelector.get() != null));
            System.out.println("socket " + (waitingSocket.get() != null));
            System.out.println("asynchronous " + (waitingAsynchronous.get() != null));
            if (arguments.length > 1) {
                // Until that one has seen what is said.
                int ignored = System.in.read();
            }
        }
        System.exit(0);
    }

    private static void connect(SocketAddress server) throws Exception {
        try (Socket client = new Socket()) {
            client.connect(server);
        }
    }

    /** Accepts a client, and until nothing is reported any more. */
    private static SocketChannel select(Selector selector, ServerSocketChannel server) throws Exception {
        SocketChannel accepted = null;
        while ((accepted == null ? selector.select() : selector.selectNow()) > 0) {
            selector.selectedKeys().clear();
            SocketChannel next = server.accept();
            accepted = next == null ? accepted : next;
        }
        return accepted;
    }

    private static <T> FutureTask<T> start(Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        Thread.ofPlatform().daemon().start(future);
        return future;
    }
}
