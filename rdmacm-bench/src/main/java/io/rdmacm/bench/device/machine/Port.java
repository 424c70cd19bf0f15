// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.machine;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Comparator;
import java.util.List;

import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.address.GidType;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.device.PortState;
import io.rdmacm.verbs.error.RdmaException;

/**
 * The port that all measurements use: the first active port of the first device that has one.
 *
 * @param device the device
 * @param number the number of the port, from 1 on
 * @param attributes the attributes of the port
 * @param limits the attributes of the device
 * @param gid the GID of the port that is used
 */
public record Port(Device device, int number, PortAttributes attributes, DeviceAttributes limits, GidEntry gid) {
    private static final int MAX_GIDS = 256;
    private static final int READS = 16;

    /** {@return the port} */
    public static Port find() throws IOException {
        for (Device device : Device.list()) {
            try (VerbsContext context = device.open()) {
                Port port = find(device, context);
                if (port != null) {
                    return port;
                }
            }
        }
        throw new IOException("no RDMA device with an active port");
    }

    private static Port find(Device device, VerbsContext context) throws RdmaException {
        DeviceAttributes limits = context.queryDevice();
        for (int number = 1; number <= limits.physicalPorts(); number++) {
            PortAttributes attributes = context.queryPort(number);
            if (attributes.state() == PortState.ACTIVE) {
                return new Port(device, number, attributes, limits, gid(context.queryGidTable(MAX_GIDS), number));
            }
        }
        return null;
    }

    private static GidEntry gid(List<GidEntry> table, int port) throws RdmaException {
        return table.stream().filter(entry -> entry.port() == port)
                .max(Comparator.comparing((GidEntry entry) -> entry.type() == GidType.ROCE_V2)
                        .thenComparing(entry -> entry.gid().isIpv4()))
                .orElseThrow(() -> new RdmaException("ibv_query_gid_table", "port " + port + " has no GID"));
    }

    /** {@return the IPv4 address of the GID, which must have one} */
    public InetAddress address() throws IOException {
        if (!gid.gid().isIpv4()) {
            throw new IOException("the port has no IPv4 address");
        }
        return gid.gid().toAddress();
    }

    /** {@return this address, with any free port} */
    public static InetSocketAddress anyPort() throws IOException {
        return new InetSocketAddress(find().address(), 0);
    }

    /** {@return how many reads and atomics may be outstanding} */
    public int reads() {
        return Math.min(READS, Math.min(limits.maxQueuePairReadAtomic(), limits.maxQueuePairInitiatorReadAtomic()));
    }

    /**
     * {@return the path to a peer}
     *
     * @param lid its local identifier
     * @param peer its global identifier
     */
    public AddressAttributes route(int lid, Gid peer) {
        AddressAttributes.Builder route = AddressAttributes.builder().port(number).destinationLid(lid);
        if (attributes.linkLayer() != LinkLayer.INFINIBAND || attributes.globalRouteRequired()) {
            route.globalRoute(peer, gid.index());
        }
        return route.build();
    }
}
