// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Comparator;
import java.util.List;

import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.address.GidType;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.mlx5.Mlx5Device;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The options of programs whose two sides find each other over TCP, and what follows from them: device and path. */
final class PeerOptions {
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

    @Spec(Spec.Target.MIXEE)
    private CommandSpec program;

    /** Refuses wrong values, and returns where to print. */
    Console start() {
        Usage.requirePort(program, port);
        Usage.require(program, isServer() || port != 0, "a client needs the server's port: -p PORT");
        Usage.require(program, devicePort >= 1 && devicePort <= 255, "Invalid port of the device " + devicePort);
        Usage.require(program, gidIndex >= -1 && gidIndex <= 255, "Invalid GID index " + gidIndex);
        return new Console(program.commandLine().getOut(), program.commandLine().getErr(), false);
    }

    boolean isServer() {
        return server == null;
    }

    int devicePort() {
        return devicePort;
    }

    /** Returns the chosen device; by default the first. */
    Device device() throws IOException {
        return choose(Device.list());
    }

    /** Returns the chosen device, or the first of those with the direct verbs of mlx5. */
    Device mlx5Device() throws IOException {
        Device first = device();
        for (Device device : deviceName == null ? Device.list() : List.of(first)) {
            if (Mlx5Device.isSupported(device)) {
                return device;
            }
        }
        throw new IOException("this needs an mlx5 device, which " + first.name() + " is not");
    }

    private Device choose(List<Device> devices) throws IOException {
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

    void print(Console console, Device device) {
        console.print("device name: " + device.name());
        console.print("device port: " + devicePort);
        if (!isServer()) {
            console.print("server:      " + server.getHostAddress());
        }
        console.print("TCP port:    " + port);
        console.print("GID index:   " + (gidIndex < 0 ? "default" : gidIndex));
    }

    /** Connects to the server, or waits for a client. */
    TcpPeer connectTcp(Console console) throws IOException, InterruptedException {
        return isServer() ? TcpPeer.accept(port, listening -> console.print("waiting on port " + listening
                + " for a TCP connection")) : TcpPeer.connect(new InetSocketAddress(server, port));
    }

    /**
     * The address of this side's port.
     *
     * @param lid its address on InfiniBand
     * @param gid its address on RoCE; zero if it is not used
     * @param gidIndex the index of the GID in the table of the port; negative if it is not used
     */
    record PortAddress(int lid, Gid gid, int gidIndex) {
    }

    PortAddress address(VerbsContext context) throws IOException {
        PortAttributes attributes = context.queryPort(devicePort);
        int index = chooseGid(context, attributes);
        return new PortAddress(attributes.lid(), index < 0 ? new Gid(0, 0) : context.queryGid(devicePort, index),
                index);
    }

    /** Returns the path from this side's port to another one. */
    AddressAttributes path(PortAddress own, int lid, Gid gid) {
        AddressAttributes.Builder path = AddressAttributes.builder().port(devicePort).destinationLid(lid);
        if (own.gidIndex >= 0) {
            path.globalRoute(gid, own.gidIndex);
        }
        return path.build();
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
}
