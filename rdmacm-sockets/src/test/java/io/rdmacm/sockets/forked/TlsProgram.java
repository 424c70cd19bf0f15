// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketImpl;
import java.net.SocketTimeoutException;
import java.security.KeyStore;
import java.security.Security;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * A program with sockets of TLS, and with subclasses of sockets; the arguments are the address of a device and a file
 * with the keys and the certificate of host.example.
 */
public final class TlsProgram {
    /** The password of the keys. */
    public static final String PASSWORD = "password";

    private static final int SIZE = 300_000;
    private static final String[] SUITES = {"TLS_DH_anon_WITH_AES_128_GCM_SHA256"};
    private static SSLContext context;

    private TlsProgram() {
    }

    /** Prints for both ways whether each went well. */
    public static void main(String[] arguments) throws Exception {
        // Without certificates.
        Security.setProperty("jdk.tls.disabledAlgorithms", "");
        context = SSLContext.getInstance("TLSv1.2");
        context.init(null, null, null);
        for (InetAddress address : List.of(InetAddress.getByName(arguments[0]), InetAddress.getLoopbackAddress())) {
            try (SSLServerSocket server = (SSLServerSocket) context.getServerSocketFactory()
                    .createServerSocket(0, 10, address)) {
                server.setEnabledCipherSuites(SUITES);
                print("echo", echo(server, connect(server)));
                print("layered", layered(server));
                print("timeout", goesOnAfterATimeout(server));
                print("handshake", closesDuringTheHandshake(server));
            }
            print("named", checksTheName(address, new File(arguments[1])));
            print("unconnected", closesUnconnected());
            print("subclass", acceptsASubclass(address));
            print("implementation", refusesAnImplementation(address));
        }
        System.exit(0);
    }

    private static void print(String what, boolean fine) {
        System.out.println(what + " " + fine);
    }

    private static SSLSocket connect(SSLServerSocket server) throws IOException {
        SSLSocket socket = (SSLSocket) context.getSocketFactory()
                .createSocket(server.getInetAddress(), server.getLocalPort());
        socket.setEnabledCipherSuites(SUITES);
        return socket;
    }

    private static <T> FutureTask<T> start(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    private static boolean echo(SSLServerSocket server, SSLSocket client) throws Exception {
        byte[] data = new byte[SIZE];
        Arrays.setAll(new Byte[SIZE], i -> data[i] = (byte) (i * 7));
        FutureTask<Integer> serving = start(() -> {
            try (Socket accepted = server.accept()) {
                byte[] received = accepted.getInputStream().readNBytes(SIZE);
                accepted.getOutputStream().write(received);
                return accepted.getInputStream().read();
            }
        });
        try (client) {
            FutureTask<Void> writing = start(() -> {
                client.getOutputStream().write(data);
                return null;
            });
            byte[] back = client.getInputStream().readNBytes(SIZE);
            writing.get();
            client.shutdownOutput();
            return Arrays.equals(data, back) && serving.get() < 0 && client.getInputStream().read() < 0;
        }
    }

    /** The client checks that the certificate is that of the host which it connects to by name. */
    private static boolean checksTheName(InetAddress address, File file) throws Exception {
        KeyStore keys = KeyStore.getInstance(file, PASSWORD.toCharArray());
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, PASSWORD.toCharArray());
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(keys);
        SSLContext certified = SSLContext.getInstance("TLS");
        certified.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        try (SSLServerSocket server = (SSLServerSocket) certified.getServerSocketFactory()
                .createServerSocket(0, 10, address)) {
            // Without DNS, which knows no such name.
            SSLSocket client = (SSLSocket) certified.getSocketFactory().createSocket(
                    InetAddress.getByAddress("host.example", address.getAddress()), server.getLocalPort());
            SSLParameters parameters = client.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            client.setSSLParameters(parameters);
            return echo(server, client);
        }
    }

    /** TLS over a socket that is connected already, which is closed with it. */
    private static boolean layered(SSLServerSocket server) throws Exception {
        Socket plain = new Socket(server.getInetAddress(), server.getLocalPort());
        SSLSocketFactory factory = context.getSocketFactory();
        SSLSocket client = (SSLSocket) factory.createSocket(plain, "name", server.getLocalPort(), true);
        client.setEnabledCipherSuites(SUITES);
        return echo(server, client) && plain.isClosed();
    }

    private static boolean goesOnAfterATimeout(SSLServerSocket server) throws Exception {
        FutureTask<Socket> accepting = start(() -> {
            SSLSocket accepted = (SSLSocket) server.accept();
            accepted.startHandshake();
            return accepted;
        });
        try (SSLSocket client = connect(server)) {
            client.startHandshake();
            client.setSoTimeout(20);
            try {
                return client.getInputStream().read() == -2;
            } catch (SocketTimeoutException e) {
                client.setSoTimeout(0);
            }
            try (Socket accepted = accepting.get()) {
                accepted.getOutputStream().write(9);
                return client.getInputStream().read() == 9;
            }
        }
    }

    private static boolean closesDuringTheHandshake(SSLServerSocket server) throws Exception {
        SSLSocket client = connect(server);
        // Ends with an exception or without one, as the JDK's does.
        FutureTask<Boolean> shaking = start(() -> {
            try {
                client.startHandshake();
            } catch (IOException e) {
                // closed
            }
            return true;
        });
        // It is accepted, but nobody answers its first message.
        try (Socket accepted = server.accept()) {
            client.close();
            return shaking.get() && accepted.isConnected();
        }
    }

    private static boolean closesUnconnected() throws Exception {
        for (int i = 0; i < 100; i++) {
            SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket();
            if (socket.getSSLParameters().getProtocols().length == 0) {
                return false;
            }
            socket.close();
            if (!socket.isClosed()) {
                return false;
            }
        }
        return true;
    }

    /** A socket of a program. */
    private static final class Own extends Socket {
        Own() {
            super();
        }

        Own(SocketImpl implementation) throws IOException {
            super(implementation);
        }

        @Override
        public String toString() {
            return "own";
        }
    }

    /** A server of a program, which accepts sockets of its own. */
    private static class OwnServer extends ServerSocket {
        OwnServer(InetAddress address) throws IOException {
            super();
            bind(new InetSocketAddress(address, 0));
        }

        @Override
        public Socket accept() throws IOException {
            return accept(new Own());
        }

        Socket accept(Own socket) throws IOException {
            implAccept(socket);
            return socket;
        }
    }

    private static boolean acceptsASubclass(InetAddress address) throws Exception {
        try (OwnServer server = new OwnServer(address);
                Socket client = new Socket(address, server.getLocalPort()); Socket accepted = server.accept();
                Socket second = new Socket(address, server.getLocalPort());
                Socket late = server.accept(new Own(null))) {
            client.getOutputStream().write(5);
            second.getOutputStream().write(6);
            return accepted.toString().equals("own") && accepted.getInputStream().read() == 5
                    && late.getInputStream().read() == 6 && late.getRemoteSocketAddress()
                            .equals(second.getLocalSocketAddress());
        }
    }

    /** As with the JDK's sockets: an IOException. */
    private static boolean refusesAnImplementation(InetAddress address) throws Exception {
        try (OwnServer server = new OwnServer(address);
                Socket client = new Socket(address, server.getLocalPort())) {
            try {
                server.accept(new Own(new ForeignImplementation()));
                return false;
            } catch (IOException e) {
                return client.isConnected();
            }
        }
    }
}
