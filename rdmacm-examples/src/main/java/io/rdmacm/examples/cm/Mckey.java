// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.IbSocketAddress;
import io.rdmacm.core.MulticastMembership;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.PeerProgram;
import io.rdmacm.examples.support.ProgramThread;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GlobalRoute;
import io.rdmacm.verbs.queue.QueuePairCreateFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code mckey}, as mckey(1): sends datagrams to a multicast group, or receives them. All its queue
 * pairs join the group, then they send or receive, then they leave. {@link Node} is one of them.
 *
 * <p>Unlike in C, the sender waits until its last message has been sent, and a receiver that has received some messages
 * does not wait forever for lost ones. Both sides need the same -C and -S.
 */
@Command(name = "mckey", header = "Sends datagrams to a multicast group, or receives them.",
        description = "Joins the group; the sender sends its messages, all others receive them.",
        footer = {"%nFor example, a receiver, which has to be started first, and a sender:",
            "  rdmacm mckey -m 239.1.2.3 -b 192.168.99.1", "  rdmacm mckey -m 239.1.2.3 -b 192.168.99.1 -s"})
final class Mckey extends PeerProgram {
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);

    @Option(names = "-m", paramLabel = "GROUP",
            description = "The multicast address of the group, IPv4 or IPv6.")
    private InetAddress group;

    @Option(names = "-M", paramLabel = "GID",
            description = "Instead of -m, the GID of the group, in IPv6 notation; needs -b. InfiniBand only.")
    private InetAddress groupGid;

    @Option(names = "-s", description = "Run as the sender.")
    private boolean sender;

    @Option(names = "-b", paramLabel = "ADDR",
            description = "The local address through which the group is reached.")
    private InetAddress bind;

    @Option(names = "-c", paramLabel = "COUNT", defaultValue = "1",
            description = "How many queue pairs, each of them a member (${DEFAULT-VALUE}).")
    private int connections;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10",
            description = "How many messages each of them sends or receives (${DEFAULT-VALUE}).")
    private int messages;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "100",
            description = "The length of a message in bytes (${DEFAULT-VALUE}), at most the MTU; 0 for no messages.")
    private int size;

    @Option(names = "-p", paramLabel = "NUMBER", converter = NumberConverter.class,
            description = "The number of the port space: 0x111 for udp (the default), 2 for ipoib.")
    private Integer spaceNumber;

    @Option(names = "-o", description = "Join as a full member that only sends.")
    private boolean sendOnly;

    @Option(names = "-l", description = "Do not loop datagrams back to the sender.")
    private boolean noLoopback;

    @Option(names = "--pause", paramLabel = "SECONDS", defaultValue = "3",
            description = "How long to wait after joining (${DEFAULT-VALUE}, as in C): until switches have learned of a"
                    + " new member, its datagrams are lost.")
    private int pause;

    @Override
    protected void run() throws IOException, InterruptedException {
        require((group == null) != (groupGid == null), "either -m or -M: the group to join");
        require(groupGid == null || bind != null, "unmapped multicast address requires binding to source address");
        require(connections >= 1, "Invalid number of connections " + connections);
        require(messages >= 0, "Invalid number of messages " + messages);
        require(size >= 0, "Invalid size " + size);
        require(pause >= 0, "Invalid pause " + pause);
        PortSpace space = Node.datagramSpace(spaceNumber, PortSpace.UDP);
        require(space != null, "Invalid port space " + spaceNumber + ": udp (0x111) or ipoib (2)");
        print("mckey: starting " + (sender ? "client" : "server"));
        print("mckey: joining");
        // Closed in reverse order: each queue pair leaves the group before it is destroyed.
        try (Resources open = new Resources()) {
            EventChannel channel = open.add(EventChannel.open());
            List<Node> nodes = joinAll(channel, space, open);
            try (ProgramThread events = new ProgramThread("mckey-events", () -> reportEvents(channel))) {
                Thread.sleep(Duration.ofSeconds(pause));
                if (messages > 0 && size > 0) {
                    transfer(nodes);
                }
                events.check();
            }
        }
        print("test complete");
        print("return status 0");
    }

    private List<Node> joinAll(EventChannel channel, PortSpace space, Resources open)
            throws IOException, InterruptedException {
        SocketAddress wanted = group == null ? IbSocketAddress.of(Gid.ofAddress(groupGid))
                : new InetSocketAddress(group, 0);
        List<Node> nodes = new ArrayList<>();
        while (nodes.size() < connections) {
            CmId id = open.add(CmId.open(channel, space));
            if (bind != null) {
                id.bindAddress(new InetSocketAddress(bind, 0));
            }
            // Finds the device that reaches the group. With a GID, the bound address has already chosen it.
            if (group != null) {
                id.resolveAddress(wanted, RESOLVE_TIMEOUT);
                channel.await(id, CmEventType.ADDR_RESOLVED, timeout()).close();
            }
            Node node = new Node(id, size == 0 ? 0 : messages, size, open, noLoopback
                    ? new QueuePairCreateFlag[] {QueuePairCreateFlag.BLOCK_SELF_MCAST_LB}
                    : new QueuePairCreateFlag[0]);
            if (!sender) {
                node.postReceives();
            }
            open.add(id.joinMulticast(wanted, sendOnly ? MulticastMembership.Role.SEND_ONLY
                    : MulticastMembership.Role.FULL_MEMBER));
            try (CmEvent joined = channel.await(id, CmEventType.MULTICAST_JOIN, timeout())) {
                AddressAttributes address = joined.datagramParameters().address().orElseThrow();
                print(String.format("mckey: joined dgid: %s mlid 0x%x sl %d",
                        address.globalRoute().map(GlobalRoute::destination).map(Object::toString).orElse("::"),
                        address.destinationLid(), address.serviceLevel()));
                node.sendTo(joined.datagramParameters(), open);
            }
            nodes.add(node);
        }
        return nodes;
    }

    private void transfer(List<Node> nodes) throws IOException, InterruptedException {
        print(sender ? "initiating data transfers" : "receiving data transfers");
        for (Node node : nodes) {
            if (sender) {
                node.postSends();
            } else {
                // A sender may be started at any time.
                node.awaitReceives(FOREVER, timeout());
            }
        }
        for (Node node : nodes) {
            node.awaitSends(timeout());
        }
        print("data transfers complete");
    }

    /** Prints the events of the memberships after the joins. */
    private void reportEvents(EventChannel channel) throws IOException, InterruptedException {
        while (true) {
            try (CmEvent event = channel.getEvent(FOREVER)) {
                if (event.type() == CmEventType.MULTICAST_ERROR || event.type() == CmEventType.ADDR_CHANGE) {
                    print("mckey: event: " + event.type().nativeName() + ", status: " + event.status());
                }
            }
        }
    }
}
