// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.rdmacm.examples.support.Console;

/** The same store over TCP, with a virtual thread per client, as over RDMA. */
final class TcpService implements AutoCloseable {
    private final KvRequests requests;
    private final Console console;
    private final ServerSocketChannel listener;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    TcpService(InetSocketAddress address, KvRequests requests, Console console) throws IOException {
        this.requests = requests;
        this.console = console;
        this.listener = ServerSocketChannel.open();
        boolean listening = false;
        try {
            listener.bind(address);
            listening = true;
        } finally {
            if (!listening) {
                listener.close();
            }
        }
        threads.execute(this::accept);
    }

    int port() throws IOException {
        return ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    /** Closes all connections. */
    @Override
    public void close() throws IOException {
        listener.close();
        // The interrupt closes the channel that a thread is reading from.
        threads.shutdownNow();
        threads.close();
    }

    private void accept() {
        try {
            while (true) {
                SocketChannel channel = listener.accept();
                threads.execute(() -> serve(channel));
            }
        } catch (ClosedChannelException e) {
            console.debug("no longer listening over TCP");
        } catch (IOException e) {
            console.report("kv_server: no more clients over TCP: " + Console.describe(e));
        }
    }

    private void serve(SocketChannel client) {
        KvSlot copy = new KvSlot(requests.table().layout());
        try (client) {
            client.setOption(StandardSocketOptions.TCP_NODELAY, true);
            TcpFrames frames = new TcpFrames(client, requests.messageBytes());
            for (ByteBuffer request = frames.receive(); request != null; request = frames.receive()) {
                requests.answer(KvMessage.request(request), request, frames.begin(), copy);
                frames.send();
            }
        } catch (ClosedChannelException e) {
            console.debug("the server ended a connection over TCP");
        } catch (IOException e) {
            console.report("kv_server: a client over TCP: " + Console.describe(e));
        }
    }
}
