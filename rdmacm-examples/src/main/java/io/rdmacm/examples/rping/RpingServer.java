// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.work.RemoteMemory;

/** The server of rping: listens, accepts, and answers the pings of one client, or of many. */
final class RpingServer {
    private static final int BACKLOG = 64;

    private final Rping options;

    RpingServer(Rping options) {
        this.options = options;
    }

    /** Serves one client and returns; a persistent server runs until it is interrupted. */
    void run() throws IOException, InterruptedException {
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, PortSpace.TCP)) {
            InetSocketAddress address = options.address();
            listener.bindAddress(address);
            listener.listen(BACKLOG);
            if (address.getPort() == 0) {
                options.print("server listening on port " + listener.localAddress().getPort());
            }
            options.debug("listening on %s", listener.localAddress());
            if (options.persistent) {
                serveAll(channel, listener);
            } else {
                serve(awaitClient(channel, listener));
            }
        }
    }

    /** Serves each client in a thread of its own. A failure of one client is printed and does not affect the others. */
    private void serveAll(EventChannel channel, CmId listener) throws IOException, InterruptedException {
        try (ExecutorService clients = Executors.newCachedThreadPool()) {
            try {
                while (true) {
                    CmId client = awaitClient(channel, listener);
                    clients.execute(() -> serveReporting(client));
                }
            } finally {
                clients.shutdownNow();
            }
        }
    }

    private void serveReporting(CmId client) {
        try {
            serve(client);
        } catch (IOException | RuntimeException e) {
            options.report(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the next client, and returns its new id, which the caller has to close. */
    private CmId awaitClient(EventChannel channel, CmId listener) throws IOException, InterruptedException {
        try (CmEvent request = channel.await(listener, CmEventType.CONNECT_REQUEST, Rping.FOREVER)) {
            options.debug("connect request from %s", request.id().peerAddress());
            return request.id();
        }
    }

    /** Serves one client, from the accept to the close of the connection. */
    private void serve(CmId client) throws IOException, InterruptedException {
        try (client; RpingConnection connection = new RpingConnection(client, "server", options)) {
            connection.accept();
            answerPings(connection);
        }
    }

    private void answerPings(RpingConnection connection) throws IOException, InterruptedException {
        while (true) {
            RemoteMemory source;
            try {
                source = connection.receive();
            } catch (RpingConnection.EndedException e) {
                // Between two pings: the client is done.
                return;
            }
            connection.read(source);
            byte[] ping = PingData.text(connection.buffer().memory());
            if (options.verbose) {
                options.print("server ping data: " + PingData.show(ping));
            }
            connection.goAhead();
            RemoteMemory sink = connection.receive();
            // with the zero that ends it
            connection.write(sink, ping.length + 1);
            connection.goAhead();
        }
    }
}
