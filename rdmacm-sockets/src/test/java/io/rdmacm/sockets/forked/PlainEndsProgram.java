// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

/**
 * A program whose sockets are closed while they are used; the arguments are the address of a device, and one that
 * nobody has, for RDMA only.
 */
public final class PlainEndsProgram {
    private static final int SIZE = 1 << 20;

    private PlainEndsProgram() {
    }

    /** Prints for both ways whether each has ended as sockets of the JDK do. */
    public static void main(String[] arguments) throws Exception {
        for (InetAddress address : List.of(InetAddress.getByName(arguments[0]), InetAddress.getLoopbackAddress())) {
            try (ServerSocket server = new ServerSocket()) {
                server.bind(new InetSocketAddress(address, 0));
                print("read", endsByClose(server, client -> client.getInputStream().read()));
                print("write", endsByClose(server, PlainEndsProgram::write));
                print("virtual", endsByInterrupt(server));
                print("end", endsOnce(server));
                print("recorded", isRecordedOnce(server));
                Ending accepting = new Ending(server::accept, Thread.ofVirtual());
                accepting.await("java.net.ServerSocket");
                accepting.thread.interrupt();
                print("accept", accepting.task.get() && server.isClosed());
            }
        }
        Socket connecting = new Socket();
        Ending ending = new Ending(() -> {
            connecting.connect(new InetSocketAddress(arguments[1], 9000));
            return null;
        }, Thread.ofPlatform());
        ending.await("io.rdmacm.sockets.Race");
        connecting.close();
        print("connect", ending.task.get());
        print("virtual connect", connectEndsByInterrupt(arguments[1]));
        print("unresolved", failsWithoutAnAddress());
        System.exit(0);
    }

    private static void print(String what, boolean fine) {
        System.out.println(what + " " + fine);
    }

    /** Something that waits in a thread of its own, until it fails by a SocketException. */
    private static final class Ending {
        private final FutureTask<Boolean> task;
        private final Thread thread;

        Ending(Callable<?> call, Thread.Builder builder) {
            task = new FutureTask<>(() -> {
                try {
                    call.call();
                    return false;
                } catch (IOException e) {
                    return e instanceof SocketException;
                }
            });
            thread = builder.start(task);
        }

        /** Returns when the thread is in a class. */
        void await(String type) {
            while (thread.isAlive() && Arrays.stream(thread.getStackTrace())
                    .noneMatch(frame -> frame.getClassName().startsWith(type))) {
                Thread.yield();
            }
        }
    }

    /** Something that waits. */
    private interface Wait {
        void on(Socket socket) throws IOException;
    }

    private static void write(Socket socket) throws IOException {
        while (true) {
            socket.getOutputStream().write(new byte[SIZE]);
        }
    }

    private static Socket connect(ServerSocket server) throws IOException {
        return new Socket(server.getInetAddress(), server.getLocalPort());
    }

    @SuppressWarnings("try") // that is the test
    private static boolean endsByClose(ServerSocket server, Wait wait) throws Exception {
        try (Socket client = connect(server); Socket accepted = server.accept()) {
            Ending ending = new Ending(() -> {
                wait.on(client);
                return null;
            }, Thread.ofPlatform());
            ending.await("java.net.Socket$Socket");
            client.close();
            return ending.task.get() && accepted.isConnected();
        }
    }

    /** A virtual thread that is interrupted closes the socket. */
    private static boolean endsByInterrupt(ServerSocket server) throws Exception {
        try (Socket client = connect(server); Socket accepted = server.accept()) {
            Ending ending = new Ending(() -> client.getInputStream().read(), Thread.ofVirtual());
            ending.await("java.net.Socket$Socket");
            ending.thread.interrupt();
            return ending.task.get() && client.isClosed() && accepted.isConnected();
        }
    }

    private static boolean connectEndsByInterrupt(String nobody) throws Exception {
        try (Socket connecting = new Socket()) {
            Ending ending = new Ending(() -> {
                try {
                    connecting.connect(new InetSocketAddress(nobody, 9000));
                    return null;
                } catch (IOException e) {
                    throw Thread.currentThread().isInterrupted() && connecting.isClosed() ? e
                            : new IllegalStateException(e);
                }
            }, Thread.ofVirtual());
            ending.await("io.rdmacm.sockets.Race");
            ending.thread.interrupt();
            return ending.task.get();
        }
    }

    private static boolean failsWithoutAnAddress() throws Exception {
        try (Socket socket = new Socket()) {
            socket.connect(InetSocketAddress.createUnresolved("nobody.invalid", 9000), 1000);
            return false;
        } catch (UnknownHostException e) {
            return true;
        }
    }

    /** The end of the input stays the end, even of a socket that is closed. */
    @SuppressWarnings("try") // that is the test
    private static boolean endsOnce(ServerSocket server) throws Exception {
        try (Socket client = connect(server); Socket accepted = server.accept()) {
            InputStream in = client.getInputStream();
            accepted.close();
            int first = in.read();
            client.close();
            return first < 0 && in.read() < 0;
        }
    }

    /** A flight recorder has each read once. */
    private static boolean isRecordedOnce(ServerSocket server) throws Exception {
        Path file = Files.createTempFile("recording", ".jfr");
        try (Recording recording = new Recording(); Socket client = connect(server);
                Socket accepted = server.accept()) {
            recording.enable("jdk.SocketRead").withThreshold(Duration.ZERO);
            recording.start();
            accepted.getOutputStream().write(1);
            int one = client.getInputStream().read();
            recording.stop();
            recording.dump(file);
            return one == 1 && RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getEventType().getName().equals("jdk.SocketRead")).count() == 1;
        } finally {
            Files.delete(file);
        }
    }
}
