// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.util.Arrays;
import java.util.Collection;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** A program with sockets that have no channels; the argument is the address of a device. */
public final class PlainProgram {
    private static final int SIZE = 200_000;

    private PlainProgram() {
    }

    /** Prints what happened. */
    public static void main(String[] arguments) throws Exception {
        InetAddress rdma = InetAddress.getByName(arguments[0]);
        ServerSocket server = new ServerSocket(0);
        try (server) {
            try (Socket client = new Socket(rdma, server.getLocalPort()); Socket accepted = server.accept()) {
                System.out.println(last("connect").replaceFirst(".*? (RDMA|TCP)(:.*)?$", "connect $1"));
                System.out.println(last("accept").replaceFirst(".*? (RDMA|TCP)(:.*)?$", "accept $1"));
                System.out.println("echo " + echo(client, accepted));
                System.out.println("interrupted " + interrupted(client, accepted));
                client.setSoTimeout(20);
                System.out.println("timeout " + fails(SocketTimeoutException.class,
                        () -> client.getInputStream().read()));
                client.setTcpNoDelay(true);
                System.out.println("option " + client.getTcpNoDelay());
            }
            try (Socket client = new Socket("127.0.0.1", server.getLocalPort()); Socket accepted = server.accept()) {
                System.out.println(last("accept").replaceFirst(".*? (RDMA|TCP)(:.*)?$", "local $1"));
                System.out.println("echo " + echo(client, accepted));
            }
            int free;
            try (ServerSocket other = new ServerSocket()) {
                other.bind(new InetSocketAddress(rdma, 0));
                free = other.getLocalPort();
            }
            System.out.println("refused " + fails(ConnectException.class, () -> new Socket(rdma, free)));
            server.setSoTimeout(20);
            System.out.println("accept timeout " + fails(SocketTimeoutException.class, server::accept));
            server.setSoTimeout(0);
            FutureTask<Boolean> accepting = start(() -> fails(SocketException.class, server::accept));
            server.close();
            System.out.println("closed " + accepting.get());
        }
        System.out.println("options " + optionsHold(rdma));
        asynchronous(rdma);
        System.out.println("factory " + setsItsOwnFactory());
        System.exit(0);
    }

    /** As without the agent, the first factory of the program is taken, and no other. */
    @SuppressWarnings("deprecation")
    private static boolean setsItsOwnFactory() throws Exception {
        AtomicInteger made = new AtomicInteger();
        Socket.setSocketImplFactory(() -> {
            made.incrementAndGet();
            return null;
        });
        Socket ignored = new Socket();
        try (ServerSocket server = new ServerSocket(0)) {
            return made.get() == 1 && server.isBound() && fails(SocketException.class, () -> {
                Socket.setSocketImplFactory(() -> null);
                return null;
            });
        }
    }

    /** What is set before a socket connects or a server is bound is in effect. */
    private static boolean optionsHold(InetAddress rdma) throws Exception {
        try (ServerSocket server = new ServerSocket(); Socket client = new Socket()) {
            server.setReceiveBufferSize(50_000);
            server.bind(new InetSocketAddress(rdma, 0));
            client.setReceiveBufferSize(60_000);
            client.setOption(StandardSocketOptions.SO_SNDBUF, 70_000);
            client.setTrafficClass(0x10);
            client.setReuseAddress(true);
            client.connect(server.getLocalSocketAddress());
            try (Socket accepted = server.accept()) {
                return last("accept").endsWith(" RDMA") && accepted.getReceiveBufferSize() == 50_000
                        && client.getReceiveBufferSize() == 60_000 && client.getSendBufferSize() == 70_000
                        && client.getTrafficClass() == 0x10 && client.getReuseAddress();
            }
        }
    }

    private static void asynchronous(InetAddress rdma) throws Exception {
        try (AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open()
                .bind(new InetSocketAddress(rdma, 0));
                AsynchronousSocketChannel client = AsynchronousSocketChannel.open()) {
            Future<AsynchronousSocketChannel> accepting = server.accept();
            client.connect(server.getLocalAddress()).get();
            System.out.println(last("connect").replaceFirst(".*? (RDMA|TCP)(:.*)?$", "asynchronous $1"));
            accepting.get().close();
        }
    }

    private static <T> FutureTask<T> start(Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        Thread.ofPlatform().daemon().start(future);
        return future;
    }

    private static boolean echo(Socket client, Socket accepted) throws Exception {
        byte[] data = new byte[SIZE];
        for (int i = 0; i < SIZE; i++) {
            data[i] = (byte) (i * 7 + (i >> 9));
        }
        FutureTask<Long> echoing = start(() -> {
            byte[] received = accepted.getInputStream().readNBytes(SIZE);
            accepted.getOutputStream().write(received);
            return (long) received.length;
        });
        client.getOutputStream().write(data);
        byte[] back = client.getInputStream().readNBytes(SIZE);
        return echoing.get() == SIZE && Arrays.equals(data, back);
    }

    /** A thread that is interrupted reads on, and learns it afterwards. */
    private static boolean interrupted(Socket client, Socket accepted) throws Exception {
        FutureTask<Boolean> reading = new FutureTask<>(
                () -> client.getInputStream().read() == 42 && Thread.currentThread().isInterrupted());
        Thread thread = Thread.ofPlatform().daemon().start(reading);
        thread.interrupt();
        accepted.getOutputStream().write(42);
        return reading.get();
    }

    private static boolean fails(Class<? extends IOException> expected, Callable<?> task) throws Exception {
        try {
            task.call();
            return false;
        } catch (IOException e) {
            return expected.isInstance(e);
        }
    }

    /** Returns what the agent says of the last connection of a kind. */
    private static String last(String kind) throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("io.rdmacm.sockets:type=Connections");
        while (!server.isRegistered(name)) {
            Thread.yield();
        }
        Object recent = server.getAttribute(name, "Recent");
        Collection<?> lines = recent instanceof String[] strings ? Arrays.asList(strings) : (Collection<?>) recent;
        return lines.stream().map(String::valueOf).filter(line -> line.startsWith(kind))
                .reduce("", (first, second) -> second);
    }
}
