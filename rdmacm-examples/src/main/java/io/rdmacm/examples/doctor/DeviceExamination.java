// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.doctor;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;

import io.rdmacm.examples.support.ExampleProgram;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.address.GidType;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.device.NodeType;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.device.PortState;
import io.rdmacm.verbs.device.TransportType;

/** Examines a device: its ports, the addresses that lead to it, and how fast it talks to itself. */
record DeviceExamination(Device device, Machine machine, Findings findings) {
    // of a card: two thirds of what a port promises, and more microseconds than any takes
    private static final double SLOW = 0.66;
    private static final double LATE = 20;

    void examine(boolean loopback) throws InterruptedException {
        double promised = 0;
        try (VerbsContext context = device.open()) {
            DeviceAttributes attributes = context.queryDevice();
            findings.ok(device.name(), device.transportType() + (machine.isSoftware(device.name())
                    ? ", a software device" : ", firmware " + attributes.firmwareVersion()) + ", GUID "
                    + device.guid());
            int gids = 0;
            for (int number = 1; number <= attributes.physicalPorts(); number++) {
                PortAttributes port = context.queryPort(number);
                promised = Math.max(promised, port(number, port));
                gids += port.gidTableLength();
            }
            gids(context.queryGidTable(gids));
        } catch (IOException e) {
            findings.problem(device.name(), ExampleProgram.describe(e), "see permissions and limits above");
            return;
        }
        List<InetAddress> addresses = addresses();
        if (device.nodeType() == NodeType.UNSPECIFIED) {
            findings.warning(device.name(), "it serves no IP addresses: librdmacm does not know it",
                    "use verbs and address handles, such as SRD on EFA");
        } else if (addresses.isEmpty()) {
            findings.problem(device.name(), "no IP address leads to it", interfaces().isEmpty()
                    ? "on InfiniBand, load ib_ipoib and give its interface an address"
                    : "`ip addr add ADDRESS/BITS dev " + interfaces().getFirst() + "`, and bring the interface up");
        } else {
            addresses.forEach(address -> findings.ok(device.name(), "address " + text(address),
                    Map.of("address", text(address))));
            if (loopback) {
                loopback(addresses.getFirst(), promised);
            }
        }
    }

    /** Returns how many gigabits a second the port promises; 0 if it does not say. */
    private double port(int number, PortAttributes port) {
        OptionalInt lanes = port.activeWidth().lanes();
        OptionalInt speed = port.speed().megabitsPerLane();
        double gigabits = lanes.orElse(0) * speed.orElse(0) / 1000.0;
        String text = "port " + number + ": " + port.state() + ", " + port.linkLayer() + ", " + gigabits
                + " Gbit/s, MTU " + port.activeMtu() + " of " + port.maxMtu();
        Map<String, Object> values = Map.of("port", number, "state", port.state().name(), "gbits", gigabits, "mtu",
                port.activeMtu(), "maxMtu", port.maxMtu());
        if (port.state() != PortState.ACTIVE) {
            findings.problem(device.name(), text, port.linkLayer() == LinkLayer.INFINIBAND
                    ? "is the cable plugged in, and does a subnet manager run (opensm)?"
                    : "is the cable plugged in, and the network interface up (`ip link set DEV up`)?");
        } else if (port.activeMtu() < port.maxMtu() && device.transportType() == TransportType.IB) {
            findings.warning(device.name(), text, port.linkLayer() == LinkLayer.ETHERNET
                    ? "a larger MTU of the network interface, 4200 for 4096, saves packets; each switch has to allow it"
                    : "the subnet manager decides on the MTU", values);
        } else {
            findings.ok(device.name(), text, values);
        }
        return gigabits;
    }

    private void gids(List<GidEntry> gids) {
        gids.forEach(entry -> findings.ok(device.name(), "port " + entry.port() + ", GID " + entry.index() + ": "
                + entry.gid() + ", " + entry.type(), Map.of("gid", entry.gid().toString(), "index", entry.index(),
                "port", entry.port(), "type", entry.type().name())));
        boolean roce = gids.stream().anyMatch(entry -> entry.type() == GidType.ROCE_V1);
        if (roce && gids.stream().noneMatch(entry -> entry.type() == GidType.ROCE_V2)) {
            findings.warning(device.name(), "only GIDs of RoCE v1, whose packets no router forwards",
                    "give the network interface an IP address: that makes a GID of RoCE v2");
        }
    }

    /** Connects the device with itself through one of its addresses, and compares with what its port promises. */
    private void loopback(InetAddress address, double promised) throws InterruptedException {
        Loopback.Result result;
        try {
            result = Loopback.measure(address);
        } catch (IOException e) {
            findings.problem(device.name(), "it cannot be connected with itself: " + ExampleProgram.describe(e),
                    "is a firewall or a tunnel in the way of " + text(address) + "?");
            return;
        }
        boolean software = machine.isSoftware(device.name());
        String text = String.format(Locale.ROOT, "loopback: a message of %d bytes takes %.1f us, writes of %d KiB %.2f"
                + " Gbit/s; the port promises %s Gbit/s, a card some 1 to 3 us%s", Loopback.MESSAGE,
                result.latencyMicros(), Loopback.WRITE >> 10, result.gigabits(), promised, software
                ? ", and a software device is as fast as its CPU" : "");
        Map<String, Object> values = Map.of("latencyMicros", result.latencyMicros(), "writeGbits", result.gigabits(),
                "promisedGbits", promised);
        if (!result.device().equals(device.name())) {
            findings.warning(device.name(), "connections to " + text(address) + " lead to " + result.device(),
                    "remove one of the devices that share the network interface");
        }
        if (!software && (result.gigabits() < promised * SLOW || result.latencyMicros() > LATE)) {
            findings.warning(device.name(), text, "look for power saving (`cpupower frequency-set -g performance`), the"
                    + " width of the slot (`lspci -vv`, LnkSta), another NUMA node, and a small MTU", values);
        } else {
            findings.ok(device.name(), text, values);
        }
    }

    private static String text(InetAddress address) {
        return address instanceof Inet4Address ? address.getHostAddress() : Gid.ofAddress(address).toString();
    }

    private List<NetworkInterface> upInterfaces() {
        return interfaces().stream().flatMap(name -> {
            try {
                NetworkInterface found = NetworkInterface.getByName(name);
                return found != null && found.isUp() ? Stream.of(found) : Stream.empty();
            } catch (SocketException e) {
                return Stream.empty();
            }
        }).toList();
    }

    private List<String> interfaces() {
        return machine.interfaces(device.name());
    }

    /** Returns the addresses of the device's interfaces that need no scope, those of IPv4 first. */
    private List<InetAddress> addresses() {
        return upInterfaces().stream().flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.isLinkLocalAddress())
                .sorted(Comparator.comparing((InetAddress address) -> !(address instanceof Inet4Address))).toList();
    }
}
