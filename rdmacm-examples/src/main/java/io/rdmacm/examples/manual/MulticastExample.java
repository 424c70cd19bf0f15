// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Callable;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.DatagramParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.MulticastMembership;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.AccessFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code multicast_example}, from the manual (7.3 and 8.2): a sender sends datagrams to a group, and any
 * number of receivers receive them. Both join the group through the connection manager, which informs the switches and
 * attaches the queue pair.
 */
@Command(name = "multicast_example", sortOptions = false,
        header = "Sends datagrams to a multicast group, or receives them.",
        description = "Start the receivers first: datagrams are not retransmitted.",
        footer = {"%nFor example, a receiver, and a sender on another machine:",
            "  rdmacm multicast_example -m 239.7.1.9 -b 192.168.99.1",
            "  rdmacm multicast_example -s -m 239.7.1.9 -b 192.168.99.2"})
public final class MulticastExample implements Callable<Integer> {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);
    // The data of a receive follows the global route header, or room for it.
    private static final int ROUTE_HEADER = 40;
    private static final int MIN_SIZE = 2 * Integer.BYTES;
    // the most that UDP can carry; the MTU of the port is checked later
    private static final int MAX_SIZE = 65_507;
    private static final int MAX_MESSAGES = 1000;

    @Option(names = "-s", description = "Run as the sender; by default as a receiver.")
    private boolean sender;

    @Option(names = "-m", paramLabel = "GROUP", defaultValue = "239.7.1.9", converter = HostConverter.class,
            description = "The address of the group (${DEFAULT-VALUE}).")
    private InetAddress group;

    @Option(names = "-b", paramLabel = "ADDR", converter = HostConverter.class,
            description = "The local address to send or receive with; by default chosen by the routing table.")
    private InetAddress local;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10",
            description = "How many messages, the same on both sides (${DEFAULT-VALUE}).")
    private int count;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "64",
            description = "The length of a message in bytes, at most the MTU (${DEFAULT-VALUE}).")
    private int size;

    @Option(names = "-t", paramLabel = "SECONDS", defaultValue = "60",
            description = "How long a receiver waits for the next message (${DEFAULT-VALUE}).")
    private int seconds;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    private Console console;
    private final WorkCompletions completions = WorkCompletions.allocate(16);

    /** Created by picocli. */
    public MulticastExample() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.require(spec, group.isMulticastAddress(), group.getHostAddress() + " is no multicast address");
        Usage.require(spec, count >= 1 && count <= MAX_MESSAGES, "Invalid count " + count + " (valid range is 1 to "
                + MAX_MESSAGES + ")");
        Usage.require(spec, size >= MIN_SIZE && size <= MAX_SIZE, "Invalid size " + size
                + " (valid range is " + MIN_SIZE + " to " + MAX_SIZE + ")");
        Usage.require(spec, seconds >= 1, "Invalid number of seconds " + seconds);
        console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        InetSocketAddress destination = new InetSocketAddress(group, 0);
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.UDP)) {
            // finds the device through which the group is reached
            id.resolveAddress(local == null ? null : new InetSocketAddress(local, 0), destination, RESOLVE_TIMEOUT);
            channel.await(id, CmEventType.ADDR_RESOLVED, TIMEOUT).close();
            console.print("using " + id.context().deviceName() + ", address "
                    + id.localAddress().getAddress().getHostAddress());
            joinAndRun(channel, id, destination);
        }
        return 0;
    }

    private void joinAndRun(EventChannel channel, CmId id, InetSocketAddress destination)
            throws IOException, InterruptedException {
        VerbsContext device = id.context();
        int slot = ROUTE_HEADER + size;
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionChannel events = device.createCompletionChannel();
                CompletionQueue queue = device.createCompletionQueue(count + 1, events);
                MemoryRegion memory = domain.allocate((long) count * slot, AccessFlag.LOCAL_WRITE);
                QueuePair pair = id.createQueuePair(domain, QueuePairInitAttributes.builder().type(QueuePairType.UD)
                        .completionQueue(queue).maxSendRequests(1).maxReceiveRequests(count).build())) {
            if (!sender) {
                // posts receives for all messages before the first one can arrive
                ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0);
                for (int i = 0; i < count; i++) {
                    pair.postReceive(receive.id(i).data(memory, (long) i * slot, slot));
                }
            }
            try (MulticastMembership membership = id.joinMulticast(destination)) {
                DatagramParameters to = awaitJoin(channel, id);
                requireFits(device.queryPort(to.address().orElseThrow().port()).activeMtu());
                console.print("joined " + membership.group());
                if (sender) {
                    try (AddressHandle handle = domain.createAddressHandle(to.address().orElseThrow())) {
                        send(pair, memory, handle, to);
                    }
                } else {
                    receive(queue, memory, slot);
                }
            }
        }
    }

    /** Waits for the join, whose event holds the parameters for sending to the group. */
    private static DatagramParameters awaitJoin(EventChannel channel, CmId id)
            throws IOException, InterruptedException {
        try (CmEvent joined = channel.await(id, CmEventType.MULTICAST_JOIN, TIMEOUT)) {
            return joined.datagramParameters();
        }
    }

    /** Checks that a message fits into one packet, as a datagram must. */
    private void requireFits(int mtu) throws IOException {
        if (size > mtu) {
            throw new IOException("a packet holds at most " + mtu + " bytes here, not " + size);
        }
    }

    private void send(QueuePair pair, MemoryRegion memory, AddressHandle handle, DatagramParameters to)
            throws IOException, InterruptedException {
        SendRequest request = SendRequests.allocate(1, 1).get(0).send()
                .datagram(handle, to.queuePairNumber(), to.queueKey()).data(memory, 0, size);
        for (int message = 0; message < count; message++) {
            Datagram.fill(memory.memory().asSlice(0, size), message);
            pair.postSend(request);
            // The completion means that the message was sent, not that anybody received it.
            pair.sendQueue().await(completions, TIMEOUT);
            completions.at(0).check();
        }
        console.print("sent " + count + " messages of " + size + " bytes to " + to.address().orElseThrow()
                .globalRoute().orElseThrow().destination());
    }

    private void receive(CompletionQueue queue, MemoryRegion memory, int slot)
            throws IOException, InterruptedException {
        console.print("waiting for " + count + " messages");
        int received = 0;
        while (received < count) {
            queue.await(completions, Duration.ofSeconds(seconds));
            for (; completions.next(); received++) {
                completions.check();
                long start = completions.workRequestId() * slot + ROUTE_HEADER;
                int length = completions.byteLength() - ROUTE_HEADER;
                int message = Datagram.check(memory.memory().asSlice(start, length));
                console.print("received message " + message + " of " + length + " bytes from queue pair 0x"
                        + Integer.toHexString(completions.sourceQueuePair()));
            }
        }
        console.print("received all " + count + " messages");
    }
}
