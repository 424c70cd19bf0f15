// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * A peer that goes as far as it is told, in one connection or in several, says so in a line each, and then does nothing
 * until it is killed. The arguments: an address of this machine, and the phases, those of clients with the port of the
 * server behind a "=".
 */
public final class Peer {
    /** As many as a peer may write to. */
    public static final int BYTES = 4096;

    private static final Duration TIMEOUT = Duration.ofSeconds(240);

    private final String address;
    private final String argument;

    // what would be freed if nobody could use it any more
    private final List<Object> used = new ArrayList<>();

    private Peer(String address, String argument) {
        this.address = address;
        this.argument = argument;
    }

    /** Goes as far as the arguments say. */
    public static void main(String[] args) throws Exception {
        List<Peer> peers = new ArrayList<>();
        for (String phase : Arrays.asList(args).subList(1, args.length)) {
            String[] parts = phase.split("=");
            Peer peer = new Peer(args[0], parts.length > 1 ? parts[1] : "");
            peers.add(peer);
            System.out.println(peer.go(parts[0]));
        }
        // Until it is killed, or nobody is left who would: the input ends with the process that started this one.
        System.in.transferTo(OutputStream.nullOutputStream());
        Reference.reachabilityFence(peers);
    }

    /** Returns what to say then. */
    private Object go(String phase) throws Exception {
        switch (phase) {
            case "listening" -> {
                return listen().localAddress().getPort();
            }
            case "requested" -> {
                requested();
                return phase;
            }
            case "accepted" -> {
                requested().accept(ConnectionParameters.defaults(), TIMEOUT);
                return phase;
            }
            case "written" -> {
                Endpoint server = requested();
                MemoryRegion region = server.registerWrite(Arena.global().allocate(BYTES, BYTES));
                server.accept(ConnectionParameters.defaults(), TIMEOUT);
                return region.remoteAddress() + " " + region.remoteKey();
            }
            case "resolving" -> {
                used(CmId.open(EventChannel.open(), PortSpace.TCP)).resolveAddress(server(), TIMEOUT);
                return phase;
            }
            case "connecting" -> {
                connecting();
                return phase;
            }
            case "connected" -> {
                client().connect(ConnectionParameters.defaults(), TIMEOUT);
                return phase;
            }
            case "disconnecting" -> {
                CmId id = connecting();
                id.channel().await(id, CmEventType.ESTABLISHED, TIMEOUT).close();
                id.disconnect();
                return phase;
            }
            case "stream server" -> {
                StreamSettings settings = StreamSettings.builder().handshakeTimeout(Duration.parse(argument)).build();
                RdmaStreamServer server = used(RdmaStreamServer.listen(new InetSocketAddress(address, 0), 4, settings));
                System.out.println(server.localAddress().getPort());
                used(server.accept(TIMEOUT));
                return "accepted";
            }
            case "stream" -> {
                return used(RdmaStream.connect(server(), TIMEOUT)).isConnected() ? phase : "not connected";
            }
            case "large" -> {
                ConnectionSettings settings = ConnectionSettings.builder().messageSize(64).largeMessages(1 << 20, 2)
                        .build();
                Listener listener = used(used(ConnectionManager.open()).listen(new InetSocketAddress(address, 0), 4,
                        settings));
                System.out.println(listener.address().getPort());
                Connection connection = used(listener.accept(TIMEOUT));
                MemoryRegion region = used(connection.protectionDomain().allocate(1 << 20, AccessFlag.REMOTE_READ));
                for (int i = 0; i < 2; i++) {
                    used(connection.async().send(region, i, BYTES));
                }
                return phase;
            }
            default -> throw new IllegalArgumentException(phase);
        }
    }

    private <T> T used(T object) {
        used.add(object);
        return object;
    }

    private Endpoint listen() throws Exception {
        Endpoint listener = used(Endpoint.createPassive(new InetSocketAddress(address, 0), PortSpace.TCP,
                EndpointAttributes.defaults()));
        listener.listen(4);
        return listener;
    }

    /** Listens, says where, and returns what the first client asks for. */
    private Endpoint requested() throws Exception {
        Endpoint listener = listen();
        System.out.println(listener.localAddress().getPort());
        return used(listener.getRequest(TIMEOUT));
    }

    private InetSocketAddress server() {
        return new InetSocketAddress(address, Integer.parseInt(argument));
    }

    private Endpoint client() throws Exception {
        return used(Endpoint.createActive(server(), PortSpace.TCP, EndpointAttributes.defaults(), TIMEOUT));
    }

    /** Asks for a connection without waiting for the answer. */
    private CmId connecting() throws Exception {
        Endpoint client = client();
        client.id().connect(ConnectionParameters.defaults());
        return client.id();
    }
}
