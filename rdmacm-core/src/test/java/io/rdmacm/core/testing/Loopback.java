// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.net.InetSocketAddress;
import java.time.Duration;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** A listener on the device under test, and connections to it, all in this JVM. */
public final class Loopback implements AutoCloseable {
    /** Long enough for the slowest machine. Tests reach it only if they fail. */
    public static final Duration TIMEOUT = Duration.ofMinutes(4);

    public final EventChannel channel;
    public final CmId listener;

    /** Listens in the port space TCP. */
    public Loopback() throws RdmaException {
        this(PortSpace.TCP);
    }

    /** Listens in a port space. */
    public Loopback(PortSpace portSpace) throws RdmaException {
        channel = EventChannel.open();
        listener = CmId.open(channel, portSpace);
        listener.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
        listener.listen(16);
        // With what the library keeps for the device, so that a test that counts what is left counts it before, too.
        listener.context();
    }

    /** Returns the address of the listener. */
    public InetSocketAddress address() {
        return listener.localAddress();
    }

    /** Returns a client id with the route to the listener resolved. */
    public CmId resolved(EventChannel clientChannel) throws RdmaException, InterruptedException {
        return resolved(clientChannel, address());
    }

    /** Returns an id with the route to a peer resolved, in the port space TCP. */
    public static CmId resolved(EventChannel channel, InetSocketAddress peer)
            throws RdmaException, InterruptedException {
        return resolved(channel, peer, PortSpace.TCP);
    }

    /** Returns an id with the route to a peer resolved. */
    public static CmId resolved(EventChannel channel, InetSocketAddress peer, PortSpace portSpace)
            throws RdmaException, InterruptedException {
        CmId id = CmId.open(channel, portSpace);
        id.resolveAddress(peer, TIMEOUT);
        channel.await(id, CmEventType.ADDR_RESOLVED, TIMEOUT).close();
        id.resolveRoute(TIMEOUT);
        channel.await(id, CmEventType.ROUTE_RESOLVED, TIMEOUT).close();
        return id;
    }

    /** Waits for the next connect request and returns its id. */
    public CmId request() throws RdmaException, InterruptedException {
        try (CmEvent request = channel.await(listener, CmEventType.CONNECT_REQUEST, TIMEOUT)) {
            return request.id();
        }
    }

    /** Connects a client to the listener and returns both ends. */
    public Pair connect(EventChannel clientChannel) throws RdmaException, InterruptedException {
        End client = new End(resolved(clientChannel));
        client.id.connect(ConnectionParameters.defaults());
        End server = new End(request());
        server.id.accept(ConnectionParameters.defaults());
        // The client first: librdmacm answers the server when the client takes this event.
        clientChannel.await(client.id, CmEventType.ESTABLISHED, TIMEOUT).close();
        channel.await(server.id, CmEventType.ESTABLISHED, TIMEOUT).close();
        return new Pair(server, client);
    }

    /** Two connected ends. */
    public record Pair(End server, End client) implements AutoCloseable {
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
