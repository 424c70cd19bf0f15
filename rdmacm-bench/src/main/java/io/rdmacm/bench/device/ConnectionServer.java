// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.error.RdmaException;

/** Accepts all connections, and closes them when the client disconnects, as the server of cmtime does. */
final class ConnectionServer {
    private static final Duration FOREVER = Duration.ofDays(1);

    private final EventChannel channel;
    private final CmId listener;
    private final Map<CmId, QueuePair> pairs = new HashMap<>();
    // shared by all connections, created with the first one
    private ConnectionQueues queues;

    private ConnectionServer(InetAddress address) throws RdmaException {
        channel = EventChannel.open();
        listener = CmId.open(channel, PortSpace.TCP);
        listener.bindAddress(new InetSocketAddress(address, 0));
        listener.listen(0);
    }

    /**
     * Starts a server that runs until the process ends.
     *
     * @param address the address to listen on
     * @return the port
     */
    static int start(InetAddress address) throws RdmaException {
        ConnectionServer server = new ConnectionServer(address);
        Thread.ofPlatform().daemon().start(server::serve);
        return server.listener.localPort();
    }

    private void serve() {
        try {
            while (true) {
                CmEvent event = channel.getEvent(FOREVER);
                CmId left = null;
                try (event) {
                    if (event.type() == CmEventType.CONNECT_REQUEST) {
                        accept(event.id());
                    } else if (event.type() == CmEventType.DISCONNECTED) {
                        left = event.id();
                    }
                }
                if (left != null) {
                    left.disconnect();
                    pairs.remove(left).close();
                    left.close();
                }
            }
        } catch (RdmaException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts the server", e);
        }
    }

    private void accept(CmId id) throws RdmaException {
        if (queues == null) {
            queues = new ConnectionQueues(id.context(), id.context().allocateProtectionDomain());
        }
        pairs.put(id, queues.createQueuePair(id));
        id.accept(ConnectionParameters.defaults());
    }
}
