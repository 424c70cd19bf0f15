// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

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
import io.rdmacm.verbs.work.AccessFlag;
import picocli.CommandLine.Option;

/**
 * A ping-pong: the options that all have, and the steps from an open device to the last message. What the transports
 * do differently are the methods that the programs override. {@link PingPong} sends the messages.
 */
abstract class PingPongProgram extends PairProgram {
    private static final int PORT = 18_515;
    private static final int MAX_SERVICE_LEVEL = 15;
    private static final String DONE = "done\0";

    @Option(names = {"-s", "--size"}, paramLabel = "BYTES",
            description = "The length of a message (${DEFAULT-VALUE}).")
    private int size;

    @Option(names = {"-r", "--rx-depth"}, paramLabel = "COUNT", defaultValue = "500",
            description = "How many receives are posted at a time (${DEFAULT-VALUE}).")
    private int depth;

    @Option(names = {"-n", "--iters"}, paramLabel = "COUNT", defaultValue = "1000",
            description = "How many messages each side sends (${DEFAULT-VALUE}).")
    private int iterations;

    @Option(names = {"-l", "--sl"}, paramLabel = "LEVEL", defaultValue = "0",
            description = "The service level of the messages (${DEFAULT-VALUE}).")
    private int serviceLevel;

    @Option(names = {"-e", "--events"}, description = "Sleep on completion events instead of polling.")
    private boolean events;

    @Option(names = {"-c", "--chk"}, description = "Validate the data: the client marks each page of its message, and"
            + " the server checks the marks at the end. Both sides need the option.")
    private boolean check;

    /** Takes the length of a message by default. */
    PingPongProgram(int size) {
        super(PORT);
        this.size = size;
    }

    @Override
    void checkOptions() {
        super.checkOptions();
        require(size >= 1, "Invalid size " + size);
        require(depth >= 1, "Invalid number of receives " + depth);
        require(iterations >= 1, "Invalid number of iterations " + iterations);
        require(serviceLevel >= 0 && serviceLevel <= MAX_SERVICE_LEVEL, "Invalid service level " + serviceLevel);
    }

    int size() {
        return size;
    }

    int depth() {
        return depth;
    }

    int iterations() {
        return iterations;
    }

    boolean usesEvents() {
        return events;
    }

    @Override
    int serviceLevel() {
        return serviceLevel;
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
    abstract QueuePair create(ProtectionDomain domain, QueuePairInitAttributes.Builder attributes) throws IOException;

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

    /** Moves the message to where it is sent from, if that is not the buffer. */
    void load(MemorySegment message) throws IOException {
        // the buffer is sent
    }

    /** Moves the message back. */
    void unload(MemorySegment message) throws IOException {
        // the buffer was received into
    }

    @Override
    protected final void run() throws IOException, InterruptedException {
        checkOptions();
        try (VerbsContext context = openDevice(); Resources open = new Resources()) {
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
        if (check && isClient()) {
            PageMarks.write(message);
        }
        load(message);
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
    private List<Destination> exchange(List<QueuePair> pairs, List<Destination> own)
            throws IOException, InterruptedException {
        own.forEach(destination -> print("  local address:  " + destination));
        List<Destination> peers = new ArrayList<>();
        try (TcpPeer peer = connectTcp()) {
            if (isClient()) {
                peer.send(text(own));
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
                peer.send(text(own));
                peer.receive(DONE.length(), "that it is connected");
            }
        }
        peers.subList(0, pairs.size()).forEach(destination -> print("  remote address: " + destination));
        return peers;
    }

    private String text(List<Destination> own) {
        return own.stream().map(Destination::toText).collect(Collectors.joining())
                + Destination.NONE.toText().repeat(places() - own.size());
    }
}
