// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.Message;
import io.rdmacm.examples.support.Console;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * The store over RDMA: registers the table so that clients can read it, tells each client where it is, and handles
 * puts. Gets are RDMA reads and do not come here at all.
 */
final class RdmaService implements AutoCloseable {
    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
    private static final int BACKLOG = 64;

    private final KvRequests requests;
    private final int tcpPort;
    private final Console console;
    private final ConnectionManager manager;
    private final Listener listener;
    // the registrations of the table, one for each device that clients are connected through
    private final Map<ProtectionDomain, MemoryRegion> regions = new HashMap<>();

    RdmaService(InetSocketAddress address, KvRequests requests, int tcpPort, Console console) throws RdmaException {
        this.requests = requests;
        this.tcpPort = tcpPort;
        this.console = console;
        this.manager = ConnectionManager.open();
        boolean listening = false;
        try {
            this.listener = manager.listen(address, BACKLOG, ConnectionSettings.builder()
                    .messageSize(requests.messageBytes()).build());
            listening = true;
        } finally {
            if (!listening) {
                manager.close();
            }
        }
    }

    InetSocketAddress address() {
        return listener.address();
    }

    /** Accepts clients until it is interrupted, and serves each in a thread of its own. */
    void run() throws IOException, InterruptedException {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            try {
                while (true) {
                    Connection connection = listener.accept(FOREVER);
                    threads.execute(() -> serve(connection));
                }
            } finally {
                threads.shutdownNow();
            }
        }
    }

    /** Closes what {@link #run} has left open. Nobody reads the table's memory after that. */
    @Override
    public void close() throws RdmaException {
        listener.close();
        for (MemoryRegion region : regions.values()) {
            region.close();
        }
        manager.close();
    }

    private void serve(Connection connection) {
        ByteBuffer answer = ByteBuffer.allocateDirect(requests.messageBytes());
        KvSlot copy = new KvSlot(requests.table().layout());
        try (connection) {
            while (true) {
                answer.clear();
                try (Message message = connection.receive(FOREVER)) {
                    ByteBuffer request = message.memory().asByteBuffer();
                    KvMessage.Request kind = KvMessage.request(request);
                    if (kind == KvMessage.Request.HELLO) {
                        hello(connection, answer);
                    } else {
                        requests.answer(kind, request, answer, copy);
                    }
                }
                connection.send(answer.flip(), FOREVER);
            }
        } catch (DisconnectedException e) {
            console.debug("%s has left", connection.peerAddress());
        } catch (IOException e) {
            console.report("kv_server: " + connection.peerAddress() + ": " + Console.describe(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Answers HELLO: the address of the table, its remote key, the TCP port and the layout. */
    private void hello(Connection connection, ByteBuffer answer) throws RdmaException {
        MemoryRegion region = region(connection.protectionDomain());
        KvMessage.begin(answer, KvMessage.Answer.OK);
        answer.putLong(region.remoteAddress()).putInt(region.remoteKey()).putInt(tcpPort);
        requests.table().layout().write(answer);
    }

    private synchronized MemoryRegion region(ProtectionDomain domain) throws RdmaException {
        MemoryRegion region = regions.get(domain);
        if (region == null) {
            // registers the table's own memory: nothing is copied
            region = domain.register(requests.table().memory(), AccessFlag.REMOTE_READ);
            regions.put(domain, region);
        }
        return region;
    }
}
