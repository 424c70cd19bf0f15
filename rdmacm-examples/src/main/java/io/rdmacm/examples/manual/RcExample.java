// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;

import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.address.GidType;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.work.AccessFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The command {@code rc_example}, from the manual (7.1): a reliable connection without the connection manager. The two
 * sides exchange their addresses over TCP, move their queue pairs from state to state, and then try what such a
 * connection can do: a send into a receive, a read and a write of the other side's memory.
 */
@Command(name = "rc_example", sortOptions = false,
        header = "Send, receive, RDMA read and write without a connection manager.",
        description = "Without SERVER it runs as the server. The two sides find each other over TCP.",
        footer = {"%nFor example, a server, and a client on another machine:",
            "  rdmacm rc_example -d mlx5_0", "  rdmacm rc_example -d mlx5_0 192.168.99.1"})
public final class RcExample implements Callable<Integer> {
    private static final int BUFFER = 64;
    private static final int QUEUE = 4;

    @Parameters(index = "0", arity = "0..1", paramLabel = "SERVER", converter = HostConverter.class,
            description = "Client: the server's address or name.")
    private InetAddress server;

    @Option(names = {"-p", "--port"}, paramLabel = "PORT", defaultValue = "19875",
            description = "The server's TCP port (${DEFAULT-VALUE}); with 0, the server chooses a free one and prints"
                    + " it.")
    private int port;

    @Option(names = {"-d", "--ib-dev"}, paramLabel = "DEVICE", description = "The RDMA device; by default the first.")
    private String deviceName;

    @Option(names = {"-i", "--ib-port"}, paramLabel = "N", defaultValue = "1",
            description = "The port of the device (${DEFAULT-VALUE}).")
    private int devicePort;

    @Option(names = {"-g", "--gid_idx"}, paramLabel = "INDEX", defaultValue = "-1",
            description = "The index of the port's GID to use. By default none on InfiniBand; on RoCE, which needs one,"
                    + " the GID of an IP address.")
    private int gidIndex;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    private Console console;

    /** Created by picocli. */
    public RcExample() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.requirePort(spec, port);
        Usage.require(spec, server == null || port != 0, "a client needs the server's port: -p PORT");
        Usage.require(spec, devicePort >= 1 && devicePort <= 255, "Invalid port of the device " + devicePort);
        Usage.require(spec, gidIndex >= -1 && gidIndex <= 255, "Invalid GID index " + gidIndex);
        console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        Device device = findDevice();
        printConfig(device);
        try (TcpPeer peer = connectTcp()) {
            run(device, peer);
        }
        return 0;
    }

    /** Creates all resources in the head of the try; they are closed in reverse order at its end. */
    private void run(Device device, TcpPeer peer) throws IOException, InterruptedException {
        try (VerbsContext context = device.open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionChannel events = context.createCompletionChannel();
                CompletionQueue queue = context.createCompletionQueue(QUEUE, events);
                MemoryRegion buffer = domain.allocate(BUFFER, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_WRITE);
                QueuePair pair = domain.createQueuePair(QueuePairInitAttributes.builder().completionQueue(queue)
                        .maxSendRequests(1).maxReceiveRequests(1).build())) {
            console.print("created " + pair + ", and a buffer of " + BUFFER + " bytes");
            RcSide side = new RcSide(pair, buffer, peer);
            RcAddress remote = connect(context, side, buffer, pair, peer);
            if (server == null) {
                serve(side, peer);
            } else {
                use(side, peer, remote);
            }
        }
    }

    /** Moves the queue pair from RESET, in which it can do nothing, to RTS, in which it can send and receive. */
    private RcAddress connect(VerbsContext context, RcSide side, MemoryRegion buffer, QueuePair pair, TcpPeer peer)
            throws IOException, InterruptedException {
        PortAttributes attributes = context.queryPort(devicePort);
        int index = chooseGid(context, attributes);
        Gid gid = index < 0 ? new Gid(0, 0) : context.queryGid(devicePort, index);
        RcAddress local = new RcAddress(buffer.remoteAddress(), buffer.remoteKey(), pair.number(), attributes.lid(),
                gid);
        console.print("this side: " + local);
        RcAddress remote = RcAddress.of(peer.exchange(local.toBytes()));
        console.print("the peer:  " + remote);

        AddressAttributes.Builder path = AddressAttributes.builder().port(devicePort).destinationLid(remote.lid());
        if (index >= 0) {
            path.globalRoute(remote.gid(), index);
        }
        side.init(devicePort);
        if (server != null) {
            // Receives can be posted from INIT on. This one must be posted before the server sends.
            side.postReceive();
        }
        side.readyToReceive(path.build(), remote.queuePair());
        side.readyToSend();
        // The first message must not arrive before the other side is ready to receive.
        peer.sync('Q');
        side.watchPeer();
        console.print("connected: " + pair.state());
        return remote;
    }

    private void serve(RcSide side, TcpPeer peer) throws IOException, InterruptedException {
        side.text("sent by the server");
        side.postSend();
        side.awaitCompletion();
        console.print("sent: " + side.text());

        // The client reads this next. The server does not notice when, so it leaves the buffer alone until step W.
        side.text("put there by the server, to be read");
        peer.sync('R');
        peer.sync('W');
        console.print("written by the client: " + side.text());
    }

    private void use(RcSide side, TcpPeer peer, RcAddress remote) throws IOException, InterruptedException {
        side.awaitCompletion();
        console.print("received: " + side.text());

        peer.sync('R');
        side.postRead(remote);
        side.awaitCompletion();
        console.print("read from the server: " + side.text());

        side.text("put there by the client, with a write");
        side.postWrite(remote);
        side.awaitCompletion();
        console.print("wrote: " + side.text());
        peer.sync('W');
    }

    private TcpPeer connectTcp() throws IOException, InterruptedException {
        return server != null ? TcpPeer.connect(new InetSocketAddress(server, port))
                : TcpPeer.accept(port, listening -> console.print("waiting on port " + listening
                        + " for a TCP connection"));
    }

    private Device findDevice() throws IOException {
        List<Device> devices = Device.list();
        if (devices.isEmpty()) {
            throw new IOException("this machine has no RDMA device");
        }
        if (deviceName == null) {
            return devices.getFirst();
        }
        return devices.stream().filter(device -> device.name().equals(deviceName)).findFirst()
                .orElseThrow(() -> new IOException("there is no RDMA device " + deviceName + ", but "
                        + String.join(", ", devices.stream().map(Device::name).toList())));
    }

    /** Chooses a GID, which is the address on RoCE: preferably of RoCE v2, which is routable, with an IPv4 address. */
    private int chooseGid(VerbsContext context, PortAttributes attributes) throws IOException {
        if (gidIndex >= 0 || attributes.linkLayer() != LinkLayer.ETHERNET) {
            return gidIndex;
        }
        return context.queryGidTable(256).stream().filter(entry -> entry.port() == devicePort)
                .max(Comparator.comparing((GidEntry entry) -> entry.type() == GidType.ROCE_V2)
                        .thenComparing(entry -> entry.gid().isIpv4()).thenComparing(entry -> -entry.index()))
                .orElseThrow(() -> new IOException("port " + devicePort + " has no GID: does its network interface have"
                        + " an address?")).index();
    }

    private void printConfig(Device device) {
        console.print("device name: " + device.name());
        console.print("device port: " + devicePort);
        if (server != null) {
            console.print("server:      " + server.getHostAddress());
        }
        console.print("TCP port:    " + port);
        console.print("GID index:   " + (gidIndex < 0 ? "default" : gidIndex));
    }
}
