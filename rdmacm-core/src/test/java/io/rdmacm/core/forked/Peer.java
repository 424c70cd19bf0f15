// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.verbs.MemoryRegion;

/**
 * A peer that goes as far as it is told, says so in one line, and then does nothing until it is killed. The arguments:
 * the phase, an address of this machine, and for a client the port of the server.
 */
public final class Peer {
    /** As many as a peer may write to. */
    public static final int BYTES = 4096;

    private static final Duration TIMEOUT = Duration.ofSeconds(240);

    private Peer() {
    }

    /** Goes as far as the first argument says. */
    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "listening" -> {
                Endpoint listener = listen(args[1]);
                stay(listener.localAddress().getPort());
            }
            case "requested" -> {
                Endpoint listener = listen(args[1]);
                System.out.println(listener.localAddress().getPort());
                listener.getRequest(TIMEOUT);
                stay("requested");
            }
            case "accepted" -> {
                Endpoint listener = listen(args[1]);
                System.out.println(listener.localAddress().getPort());
                listener.getRequest(TIMEOUT).accept(ConnectionParameters.defaults(), TIMEOUT);
                stay("accepted");
            }
            case "written" -> {
                Endpoint listener = listen(args[1]);
                System.out.println(listener.localAddress().getPort());
                Endpoint server = listener.getRequest(TIMEOUT);
                MemoryRegion region = server.registerWrite(Arena.global().allocate(BYTES, BYTES));
                server.accept(ConnectionParameters.defaults(), TIMEOUT);
                stay(region.remoteAddress() + " " + region.remoteKey());
            }
            case "resolving" -> {
                CmId id = CmId.open(EventChannel.open(), PortSpace.TCP);
                id.resolveAddress(server(args), TIMEOUT);
                stay("resolving");
            }
            case "connecting" -> {
                connect(args);
                stay("connecting");
            }
            case "connected" -> {
                Endpoint client = Endpoint.createActive(server(args), PortSpace.TCP, EndpointAttributes.defaults(),
                        TIMEOUT);
                client.connect(ConnectionParameters.defaults(), TIMEOUT);
                stay("connected");
            }
            case "disconnecting" -> {
                CmId id = connect(args);
                id.channel().await(id, CmEventType.ESTABLISHED, TIMEOUT).close();
                id.disconnect();
                stay("disconnecting");
            }
            case "stream server" -> {
                StreamSettings settings = StreamSettings.builder().handshakeTimeout(Duration.parse(args[2])).build();
                RdmaStreamServer server = RdmaStreamServer.listen(new InetSocketAddress(args[1], 0), 4, settings);
                System.out.println(server.localAddress().getPort());
                server.accept(TIMEOUT);
                stay("accepted");
            }
            case "stream" -> {
                RdmaStream stream = RdmaStream.connect(server(args), TIMEOUT);
                stay(stream.isConnected() ? "stream" : "not connected");
            }
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    private static Endpoint listen(String address) throws Exception {
        Endpoint listener = Endpoint.createPassive(new InetSocketAddress(address, 0), PortSpace.TCP,
                EndpointAttributes.defaults());
        listener.listen(4);
        return listener;
    }

    private static InetSocketAddress server(String... args) {
        return new InetSocketAddress(args[1], Integer.parseInt(args[2]));
    }

    /** Asks for a connection without waiting for the answer. */
    private static CmId connect(String... args) throws Exception {
        Endpoint client = Endpoint.createActive(server(args), PortSpace.TCP, EndpointAttributes.defaults(), TIMEOUT);
        client.id().connect(ConnectionParameters.defaults());
        return client.id();
    }

    /** Until it is killed, or nobody is left who would: the input ends with the process that started this one. */
    private static void stay(Object said) throws IOException {
        System.out.println(said);
        System.in.transferTo(OutputStream.nullOutputStream());
    }
}
