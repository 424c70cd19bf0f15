// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.Callable;

import io.rdmacm.core.IbSocketAddress;
import io.rdmacm.core.MulticastMembership;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.NumberConverter;
import io.rdmacm.examples.support.PeerTimeout;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.queue.QueuePairCreateFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code mckey}, as mckey(1): sends datagrams to a multicast group, or receives them. This class holds the
 * options; {@link MckeyMember} does the work, {@link DatagramNode} is one queue pair.
 *
 * <p>Unlike in C, the sender waits until its last message has been sent, and a receiver that has received some messages
 * does not wait forever for lost ones. Both sides need the same -C and -S.
 */
@Command(name = "mckey", sortOptions = false, header = "Sends datagrams to a multicast group, or receives them.",
        description = "Joins the group; the sender sends its messages, all others receive them.",
        footer = {"%nFor example, a receiver, which has to be started first, and a sender:",
            "  rdmacm mckey -m 239.1.2.3 -b 192.168.99.1", "  rdmacm mckey -m 239.1.2.3 -b 192.168.99.1 -s"})
public final class Mckey implements Callable<Integer> {
    @Option(names = "-m", paramLabel = "GROUP", converter = HostConverter.class,
            description = "The multicast address of the group, IPv4 or IPv6.")
    private InetAddress group;

    @Option(names = "-M", paramLabel = "GID", converter = HostConverter.class,
            description = "Instead of -m, the GID of the group, in IPv6 notation; needs -b. InfiniBand only.")
    private InetAddress groupGid;

    @Option(names = "-s", description = "Run as the sender.")
    private boolean sender;

    @Option(names = "-b", paramLabel = "ADDR", converter = HostConverter.class,
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

    @Mixin
    private PeerTimeout timeout;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    private PortSpace space;

    /** Created by picocli. */
    public Mckey() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.require(spec, (group == null) != (groupGid == null), "either -m or -M: the group to join");
        Usage.require(spec, groupGid == null || bind != null,
                "unmapped multicast address requires binding to source address");
        Usage.require(spec, connections >= 1, "Invalid number of connections " + connections);
        Usage.require(spec, messages >= 0, "Invalid number of messages " + messages);
        Usage.require(spec, size >= 0, "Invalid size " + size);
        Usage.require(spec, pause >= 0, "Invalid pause " + pause);
        space = DatagramSpaces.choose(spec, spaceNumber, PortSpace.UDP);
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        new MckeyMember(this, console).run();
        console.print("test complete");
        console.print("return status 0");
        return 0;
    }

    boolean isSender() {
        return sender;
    }

    PortSpace space() {
        return space;
    }

    /** Returns the address of the group, in the form for the join. */
    SocketAddress group() {
        return isMapped() ? new InetSocketAddress(group, 0) : IbSocketAddress.of(Gid.ofAddress(groupGid));
    }

    /** Returns whether the group is given by an IP address, not by a GID. */
    boolean isMapped() {
        return group != null;
    }

    /** Returns the local address, or null for any. */
    SocketAddress source() {
        return bind == null ? null : new InetSocketAddress(bind, 0);
    }

    int connections() {
        return connections;
    }

    /** Returns how many messages to transfer; none if their size is 0. */
    int messages() {
        return size == 0 ? 0 : messages;
    }

    int size() {
        return size;
    }

    MulticastMembership.Role role() {
        return sendOnly ? MulticastMembership.Role.SEND_ONLY : MulticastMembership.Role.FULL_MEMBER;
    }

    QueuePairCreateFlag[] queuePairFlags() {
        return noLoopback ? new QueuePairCreateFlag[] {QueuePairCreateFlag.BLOCK_SELF_MCAST_LB}
                : new QueuePairCreateFlag[0];
    }

    Duration pause() {
        return Duration.ofSeconds(pause);
    }

    Duration timeout() {
        return timeout.duration();
    }
}
