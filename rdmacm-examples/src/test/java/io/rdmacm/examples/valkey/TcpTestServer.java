// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.rdmacm.verbs.testing.Background;

/** Serves clients over TCP. */
final class TcpTestServer implements AutoCloseable {
    private final ServerSocketChannel listener;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Background<Void> accepting;

    TcpTestServer(Session<TcpStream> session) throws IOException {
        listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        accepting = Background.run(() -> {
            while (true) {
                TcpStream stream = new TcpStream(listener.accept());
                Future<?> ignored = threads.submit(() -> {
                    session.serveAndClose(stream);
                    return null;
                });
            }
        });
    }

    InetSocketAddress address() throws IOException {
        return (InetSocketAddress) listener.getLocalAddress();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        accepting.close();
        threads.shutdownNow();
        threads.close();
    }
}
