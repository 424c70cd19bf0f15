// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.net.InetSocketAddress;
import java.time.Duration;

import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** A listener on the device at hand, and connections to it, all in this JVM. */
final class Loopback implements AutoCloseable {
    /** Long enough for the slowest guest; nothing waits that long when all is well. */
    static final Duration TIMEOUT = Duration.ofMinutes(4);

    final EventChannel channel;
    final CmId listener;

    Loopback() throws RdmaException {
        this(PortSpace.TCP);
    }

    Loopback(PortSpace portSpace) throws RdmaException {
        channel = EventChannel.open();
        listener = CmId.open(channel, portSpace);
        listener.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
        listener.listen(16);
    }

    InetSocketAddress address() {
        return listener.localAddress();
    }

    /** A client id with the route resolved, on a channel. */
    CmId resolved(EventChannel clientChannel) throws RdmaException, InterruptedException {
        return resolved(clientChannel, address());
    }

    static CmId resolved(EventChannel channel, InetSocketAddress peer) throws RdmaException, InterruptedException {
        return resolved(channel, peer, PortSpace.TCP);
    }

    static CmId resolved(EventChannel channel, InetSocketAddress peer, PortSpace portSpace)
            throws RdmaException, InterruptedException {
        CmId id = CmId.open(channel, portSpace);
        id.resolveAddress(peer, TIMEOUT);
        channel.await(id, CmEventType.ADDR_RESOLVED, TIMEOUT).close();
        id.resolveRoute(TIMEOUT);
        channel.await(id, CmEventType.ROUTE_RESOLVED, TIMEOUT).close();
        return id;
    }

    /** The id of the next connect request. */
    CmId request() throws RdmaException, InterruptedException {
        try (CmEvent request = channel.await(listener, CmEventType.CONNECT_REQUEST, TIMEOUT)) {
            return request.id();
        }
    }

    /** A client connected to this listener, and its server end. */
    Pair connect(EventChannel clientChannel) throws RdmaException, InterruptedException {
        End client = new End(resolved(clientChannel));
        client.id.connect(ConnectionParameters.defaults());
        End server = new End(request());
        server.id.accept(ConnectionParameters.defaults());
        // The client first: taking this event is what makes librdmacm answer the server.
        clientChannel.await(client.id, CmEventType.ESTABLISHED, TIMEOUT).close();
        channel.await(server.id, CmEventType.ESTABLISHED, TIMEOUT).close();
        return new Pair(server, client);
    }

    /** Two connected ends. */
    record Pair(End server, End client) implements AutoCloseable {
        @Override
        public void close() throws RdmaException {
            client.close();
            server.close();
        }
    }

    @Override
    public void close() throws RdmaException {
        listener.close();
        channel.close();
    }
}
