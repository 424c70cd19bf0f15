// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** Two connected endpoints in this JVM, each with a region that the other may read and write. */
public final class EndpointPair implements AutoCloseable {
    public static final int BYTES = 4096;

    public final Endpoint server;
    public final Endpoint client;
    public final MemoryRegion serverMemory;
    public final MemoryRegion clientMemory;

    private EndpointPair(Endpoint server, Endpoint client) throws RdmaException {
        this.server = server;
        this.client = client;
        this.serverMemory = server.registerMessages(memory());
        this.clientMemory = client.registerMessages(memory());
    }

    /** Connects two endpoints. */
    public static EndpointPair connect(EndpointAttributes attributes) throws Exception {
        try (Endpoint listener = listen(attributes)) {
            return connect(listener, attributes);
        }
    }

    /** Connects an endpoint to a listener. */
    public static EndpointPair connect(Endpoint listener, EndpointAttributes attributes) throws Exception {
        Endpoint client = Endpoint.createActive(listener.localAddress(), PortSpace.TCP, attributes, Loopback.TIMEOUT);
        try (Background<Void> connecting = Background.run(
                () -> client.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT))) {
            Endpoint server = listener.getRequest(Loopback.TIMEOUT);
            server.accept(ConnectionParameters.defaults(), Loopback.TIMEOUT);
            connecting.result();
            return new EndpointPair(server, client);
        }
    }

    /** Returns an endpoint that listens on the device under test. */
    public static Endpoint listen(EndpointAttributes attributes) throws RdmaException {
        Endpoint listener = Endpoint.createPassive(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0),
                PortSpace.TCP, attributes);
        listener.listen(8);
        return listener;
    }

    /** Returns fresh memory of {@link #BYTES} bytes. */
    public static MemorySegment memory() {
        return Arena.ofAuto().allocate(BYTES, 4096);
    }

    @Override
    public void close() throws RdmaException {
        client.close();
        server.close();
    }
}
