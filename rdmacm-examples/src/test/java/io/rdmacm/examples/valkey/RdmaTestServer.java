// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.EventThread;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** Serves clients over RDMA as Valkey does, a thread for each. */
final class RdmaTestServer implements AutoCloseable {
    private final Session<QueuePairStream> session;
    private final int bufferBytes;
    private final EventChannel channel = EventChannel.open();
    private final CmId listener = CmId.open(channel, PortSpace.TCP);
    private final InetSocketAddress address;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    // used by the thread of events, and by close() after it
    private final Map<CmId, QueuePairStream> streams = new HashMap<>();
    private final List<Future<?>> sessions = new ArrayList<>();
    private final EventThread events;

    /**
     * Starts a server.
     *
     * @param bufferBytes the length of the memory that clients write to
     * @param session what to do with a connection, whose memory has been announced to the client
     */
    RdmaTestServer(int bufferBytes, Session<QueuePairStream> session) throws IOException {
        this.session = session;
        this.bufferBytes = bufferBytes;
        listener.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
        listener.listen(16);
        address = listener.localAddress();
        events = EventThread.start(channel, this::handle);
    }

    InetSocketAddress address() {
        return address;
    }

    /**
     * Ends all connections, and fails if one of them or the server itself has failed. Before that no id is closed,
     * because the thread of events may have an event of it.
     */
    @Override
    public void close() throws IOException {
        threads.shutdownNow();
        threads.close();
        events.close();
        for (QueuePairStream stream : streams.values()) {
            stream.close();
        }
        listener.close();
        channel.close();
        events.check();
        for (Future<?> done : sessions) {
            check(done);
        }
    }

    private static void check(Future<?> done) throws IOException {
        if (done.state() == Future.State.FAILED && !(done.exceptionNow() instanceof InterruptedException)) {
            throw new IOException("a session has failed", done.exceptionNow());
        }
    }

    private void handle(CmEvent event) throws IOException {
        switch (event.type()) {
            case CONNECT_REQUEST -> {
                streams.put(event.id(), new QueuePairStream(event.id(), bufferBytes));
                // As Valkey accepts: a message that finds no receive posted ends the connection.
                event.id().accept(ConnectionParameters.builder().responderResources(1).initiatorDepth(1)
                        .retryCount(5).rnrRetryCount(0).build());
            }
            case ESTABLISHED -> {
                QueuePairStream stream = streams.get(event.id());
                sessions.add(threads.submit(() -> {
                    try {
                        session.serve(stream);
                    } catch (EOFException e) {
                        // The client has left.
                    } finally {
                        stream.disconnect();
                    }
                    return null;
                }));
            }
            // flushes the queue pair, which ends the session
            case DISCONNECTED -> event.id().disconnect();
            default -> { }
        }
    }
}
