// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

import io.rdmacm.examples.support.PeerProgram;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.work.AccessFlag;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * A ping-pong without a connection manager: the options that all have, and the steps from an open device to the last
 * message. What the transports do differently are the methods that the programs override. {@link PingPong} sends the
 * messages.
 */
abstract class PingPongProgram extends PeerProgram {
    private static final int MAX_SERVICE_LEVEL = 15;
    private static final int PACKET_NUMBERS = 1 << 24;
    private static final String DONE = "done\0";

    @Option(names = {"-s", "--size"}, paramLabel = "BYTES",
            description = "The length of a message (${DEFAULT-VALUE}).")
    int size;

    @Option(names = {"-r", "--rx-depth"}, paramLabel = "COUNT", defaultValue = "500",
            description = "How many receives are posted at a time (${DEFAULT-VALUE}).")
    int depth;

    @Option(names = {"-n", "--iters"}, paramLabel = "COUNT", defaultValue = "1000",
            description = "How many messages each side sends (${DEFAULT-VALUE}).")
    int iterations;

    @Option(names = {"-e", "--events"}, description = "Sleep on completion events instead of polling.")
    boolean events;

    @Option(names = {"-i", "--ib-port"}, paramLabel = "PORT", defaultValue = "1",
            description = "The port of the device (${DEFAULT-VALUE}).")
    int devicePort;

    @Parameters(arity = "0..1", paramLabel = "HOST", description = "The server; without it, run as the server.")
    private String host;

    @Option(names = {"-p", "--port"}, paramLabel = "PORT", defaultValue = "18515",
            description = "The server's TCP port for the exchange of addresses (${DEFAULT-VALUE}); with 0, the server"
                    + " chooses a free one and prints it.")
    private int port;

    @Mixin
    private DeviceChoice device;

    @Option(names = {"-g", "--gid-idx"}, paramLabel = "INDEX", defaultValue = "-1",
            description = "The index of the port's GID, as listed by ibv_devinfo -v; required on Ethernet.")
    private int gidIndex;

    @Option(names = {"-l", "--sl"}, paramLabel = "LEVEL", defaultValue = "0",
            description = "The service level of the messages (${DEFAULT-VALUE}).")
    private int serviceLevel;

    @Option(names = {"-c", "--chk"}, description = "Validate the data: the client marks each page of its message, and"
            + " the server checks the marks at the end. Both sides need the option.")
    private boolean check;

    /** Takes the length of a message by default. */
    PingPongProgram(int size) {
        this.size = size;
    }

    void checkOptions() {
        requirePort(port, isClient());
        require(devicePort >= 1 && devicePort <= 255, "Invalid port of a device " + devicePort);
        require(gidIndex >= -1 && gidIndex <= 255, "Invalid GID index " + gidIndex);
        require(size >= 1, "Invalid size " + size);
        require(depth >= 1, "Invalid number of receives " + depth);
        require(iterations >= 1, "Invalid number of iterations " + iterations);
        require(serviceLevel >= 0 && serviceLevel <= MAX_SERVICE_LEVEL, "Invalid service level " + serviceLevel);
    }

    boolean isClient() {
        return host != null;
    }

    /** Returns how many queue pairs there are. */
    int pairs() {
        return 1;
    }

    /** Returns how many addresses are exchanged, however many are used. */
    int places() {
        return 1;
    }

    /** Returns how many bytes precede a received message in the buffer. */
    int header() {
        return 0;
    }

    /** Refuses options that the device cannot satisfy. */
    void requireSupport(VerbsContext context) throws IOException {
        // nothing special is needed
    }

    /** Creates a completion queue; the channel may be null. */
    CompletionQueue createQueue(VerbsContext context, CompletionChannel channel, int capacity) throws IOException {
        return channel == null ? context.createCompletionQueue(capacity)
                : context.createCompletionQueue(capacity, channel);
    }

    /** Registers the buffer. */
    MemoryRegion register(ProtectionDomain domain, MemorySegment data, Resources open) throws IOException {
        return open.add(domain.register(data, AccessFlag.LOCAL_WRITE));
    }

    /** Creates a queue pair. */
    QueuePair create(ProtectionDomain domain, QueuePairInitAttributes.Builder attributes) throws IOException {
        return domain.createQueuePair(attributes.build());
    }

    /** Moves a queue pair to INIT, in which receives can be posted. */
    abstract void init(QueuePair pair) throws IOException;

    /** Moves a queue pair to RTS, in which it can send to the peer. */
    abstract void connect(QueuePair pair, Destination own, Destination peer) throws IOException;

    /** Returns how to post receives. */
    PingPong.Receives receiver(List<QueuePair> pairs, ReceiveRequests receives) {
        return count -> pairs.getFirst().postReceive(receives, 0, count);
    }

    /** Returns how to send, by the index of the queue pair. Short messages are sent inline: they need not be read. */
    PingPong.Send sender(List<QueuePair> pairs, List<Destination> peers, MemoryRegion buffer, Resources open)
            throws IOException {
        SendRequest send = SendRequests.allocate(1, 1).get(0).id(PingPong.SEND).send().data(buffer, 0, size)
                .inline(size <= pairs.getFirst().capabilities().maxInlineData());
        return i -> pairs.get(i).postSend(send);
    }

    /** Moves the message that was received last to where it is checked, if it is not there. */
    void unload(MemorySegment message) throws IOException {
        // it is in the buffer
    }

    @Override
    protected final void run() throws IOException, InterruptedException {
        checkOptions();
        try (VerbsContext context = device.one().open(); Resources open = new Resources()) {
            requireSupport(context);
            play(context, open);
        }
    }

    private void play(VerbsContext context, Resources open) throws IOException, InterruptedException {
        CompletionChannel channel = events ? open.add(context.createCompletionChannel()) : null;
        CompletionQueue queue = open.add(createQueue(context, channel, depth + pairs()));
        ProtectionDomain domain = open.add(context.allocateProtectionDomain());
        MemorySegment data = Arena.ofAuto().allocate(header() + size, PageMarks.pageSize());
        MemorySegment message = data.asSlice(header());
        PageMarks.erase(message);
        if (check && isClient()) {
            PageMarks.write(message);
        }
        MemoryRegion buffer = register(domain, data, open);
        List<QueuePair> pairs = new ArrayList<>();
        List<Destination> own = new ArrayList<>();
        for (int i = 0; i < pairs(); i++) {
            QueuePair pair = open.add(create(domain, QueuePairInitAttributes.builder().completionQueue(queue)
                    .maxSendRequests(1).maxReceiveRequests(depth)));
            init(pair);
            own.add(destination(pair));
            pairs.add(pair);
        }
        PingPong.Receives receives = receiver(pairs, PingPong.receives(depth, buffer, header() + size));
        // The peer may send as soon as it has our address.
        receives.post(depth);
        List<Destination> peers = exchange(pairs, own);
        new PingPong(this, queue, pairs, receives, sender(pairs, peers, buffer, open)).run();
        unload(message);
        if (check && !isClient()) {
            PageMarks.check(message);
        }
    }

    /**
     * Exchanges addresses with the peer, and connects. The client sends its own first; the server connects its queue
     * pairs and answers; then the client connects its own and confirms.
     */
    private List<Destination> exchange(List<QueuePair> pairs, List<Destination> own) throws IOException {
        own.forEach(destination -> print("  local address:  " + destination));
        String text = own.stream().map(Destination::toText).collect(Collectors.joining())
                + Destination.NONE.toText().repeat(places() - own.size());
        List<Destination> peers = new ArrayList<>();
        try (TcpPeer peer = connectTcp()) {
            if (isClient()) {
                peer.send(text);
            }
            for (int i = 0; i < places(); i++) {
                peers.add(Destination.of(peer.receive(Destination.BYTES, "its whole address")));
            }
            for (int i = 0; i < pairs.size(); i++) {
                if (peers.get(i).equals(Destination.NONE)) {
                    throw new IOException("the peer has only " + i + " connections, this side " + pairs.size()
                            + ": start both with the same -q");
                }
                connect(pairs.get(i), own.get(i), peers.get(i));
            }
            if (isClient()) {
                peer.send(DONE);
            } else {
                peer.send(text);
                peer.receive(DONE.length(), "that it is connected");
            }
        }
        peers.subList(0, pairs.size()).forEach(destination -> print("  remote address: " + destination));
        return peers;
    }

    /** Connects to the server, or waits for a client. */
    private TcpPeer connectTcp() throws IOException {
        return isClient() ? TcpPeer.dial(host, port, timeout()) : TcpPeer.accept(port, timeout(), listening -> {
            if (port == 0) {
                print("  listening on port " + listening);
            }
        });
    }

    /** Returns the address of a local queue pair, for the peer. */
    Destination destination(QueuePair pair) throws IOException {
        VerbsContext context = pair.context();
        PortAttributes attributes = context.queryPort(devicePort);
        String name = "port " + devicePort + " of " + context.deviceName();
        if (gidIndex < 0 && attributes.linkLayer() == LinkLayer.ETHERNET) {
            throw new IOException(name + " is on Ethernet, where ports are addressed by GIDs: choose one with -g"
                    + " (ibv_devinfo -v lists them)");
        }
        if (attributes.linkLayer() != LinkLayer.ETHERNET && attributes.lid() == 0) {
            throw new IOException(name + " has no LID: it is " + attributes.state() + ", or no subnet manager runs");
        }
        Gid gid = gidIndex < 0 ? Destination.NONE.gid() : context.queryGid(devicePort, gidIndex);
        if (gidIndex >= 0 && gid.isZero()) {
            throw new IOException(name + " has no GID " + gidIndex);
        }
        int firstPacket = ThreadLocalRandom.current().nextInt(PACKET_NUMBERS);
        return new Destination(attributes.lid(), pair.number(), firstPacket, gid);
    }

    /** Returns the path to the peer's port. */
    final AddressAttributes pathTo(Destination peer) throws IOException {
        AddressAttributes.Builder path = AddressAttributes.builder().port(devicePort).destinationLid(peer.lid())
                .serviceLevel(serviceLevel);
        if (peer.gid().interfaceId() != 0) {
            if (gidIndex < 0) {
                throw new IOException("the peer uses a GID: this side has to use one too, with -g");
            }
            path.globalRoute(peer.gid(), gidIndex);
        } else if (gidIndex >= 0) {
            throw new IOException("the peer uses no GID: start it with -g too");
        }
        return path.build();
    }
}
