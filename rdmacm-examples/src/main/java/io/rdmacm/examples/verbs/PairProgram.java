// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;

import io.rdmacm.examples.support.PeerProgram;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.device.PortAttributes;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * A program that connects its queue pairs itself, without a connection manager: the options that say where the peer is
 * and which port of which device to use, and what follows from them.
 */
abstract class PairProgram extends PeerProgram {
    private static final int PACKET_NUMBERS = 1 << 24;

    @Parameters(arity = "0..1", paramLabel = "HOST", description = "The server; without it, run as the server.")
    private String host;

    @Option(names = {"-p", "--port"}, paramLabel = "PORT",
            description = "The server's TCP port for the exchange of addresses (${DEFAULT-VALUE}); with 0, the server"
                    + " chooses a free one and prints it.")
    private int port;

    @Mixin
    private DeviceChoice device;

    @Option(names = {"-i", "--ib-port"}, paramLabel = "PORT", defaultValue = "1",
            description = "The port of the device (${DEFAULT-VALUE}).")
    private int devicePort;

    @Option(names = {"-g", "--gid-idx"}, paramLabel = "INDEX", defaultValue = "-1",
            description = "The index of the port's GID, as listed by ibv_devinfo -v; required on Ethernet.")
    private int gidIndex;

    /** Takes the port that is used by default. */
    PairProgram(int port) {
        this.port = port;
    }

    void checkOptions() {
        requirePort(port, isClient());
        require(devicePort >= 1 && devicePort <= 255, "Invalid port of a device " + devicePort);
        require(gidIndex >= -1 && gidIndex <= 255, "Invalid GID index " + gidIndex);
    }

    boolean isClient() {
        return host != null;
    }

    int devicePort() {
        return devicePort;
    }

    int gidIndex() {
        return gidIndex;
    }

    int serviceLevel() {
        return 0;
    }

    VerbsContext openDevice() throws IOException {
        return device.one().open();
    }

    /** Opens a device that can do what is needed, see {@link DeviceChoice#openOne}. */
    VerbsContext openDevice(DeviceChoice.Need need, String what) throws IOException {
        return device.openOne(need, what);
    }

    /** Connects to the server, or waits for a client. */
    TcpPeer connectTcp() throws IOException, InterruptedException {
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
    AddressAttributes pathTo(Destination peer) throws IOException {
        AddressAttributes.Builder path = AddressAttributes.builder().port(devicePort).destinationLid(peer.lid())
                .serviceLevel(serviceLevel());
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
