// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The networks that the RDMA devices of this machine are on, as sysfs and the network interfaces say. Devices of iWARP
 * are left out: their ports are those of TCP, so a server cannot have one for each, and what a client begins there
 * would be data to a server over TCP.
 */
class DeviceNetworks {
    // Addresses come and go, seldom; to look at all of them takes a millisecond or so.
    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Path sysfs;
    // guarded by this
    private List<Of> networks = List.of();
    private long queried;
    private boolean known;
    // The network interfaces of each device. To look them up takes long, as a port has up to a thousand entries: that
    // is done when something else has changed, and once more, because the entries follow.
    private Map<String, Set<String>> interfaces = Map.of();
    private List<String> present = List.of();
    private boolean settled;

    DeviceNetworks(Path sysfs) {
        this.sysfs = sysfs;
    }

    /**
     * A network of a device.
     *
     * @param device the name of the device
     * @param own the address that this machine has in it
     * @param network the network
     */
    record Of(String device, InetAddress own, Rule.Network network) {
    }

    /** Returns the network that an address is in, null if it is in none. */
    @Nullable Of find(InetAddress address) {
        for (Of network : networks()) {
            if (network.network().contains(address)) {
                return network;
            }
        }
        return null;
    }

    /** Returns whether an address is this machine's, on a network of a device. */
    boolean isOwn(InetAddress address) {
        return networks().stream().anyMatch(network -> network.own().equals(address));
    }

    boolean isEmpty() {
        return networks().isEmpty();
    }

    synchronized List<Of> networks() {
        if (!known || System.nanoTime() - queried > FRESH_NANOS) {
            try {
                networks = query();
            } catch (IOException | DirectoryIteratorException e) {
                // What was found before is the best guess.
                networks = List.copyOf(networks);
            }
            queried = System.nanoTime();
            known = true;
        }
        return networks;
    }

    /** Looks for what has changed. */
    synchronized List<Of> query() throws IOException {
        List<String> now = present();
        boolean same = now.equals(present);
        if (!same || !settled) {
            interfaces = interfaces();
            present = now;
            settled = same;
        }
        List<Of> found = new ArrayList<>();
        for (Map.Entry<String, Set<String>> device : interfaces.entrySet()) {
            for (String name : device.getValue()) {
                NetworkInterface networkInterface = NetworkInterface.getByName(name);
                if (networkInterface == null || !networkInterface.isUp()) {
                    continue;
                }
                for (InterfaceAddress address : networkInterface.getInterfaceAddresses()) {
                    // Each interface has the network of link-local addresses.
                    if (!address.getAddress().isLinkLocalAddress() && !address.getAddress().isLoopbackAddress()) {
                        found.add(new Of(device.getKey(), address.getAddress(),
                                new Rule.Network(address.getAddress(), address.getNetworkPrefixLength())));
                    }
                }
            }
        }
        return List.copyOf(found);
    }

    /** Returns the devices, and the interfaces of this machine with their addresses. */
    private List<String> present() throws IOException {
        return Stream.concat(list(sysfs.resolve("class/infiniband")).stream().map(Path::toString).sorted(),
                NetworkInterface.networkInterfaces().map(one -> one.getName() + one.getInterfaceAddresses())).toList();
    }

    private static boolean isIwarp(Path device) throws IOException {
        Path type = device.resolve("node_type");
        return Files.exists(type) && Files.readString(type).contains("RNIC");
    }

    /** Returns the names of the network interfaces of each device. */
    private Map<String, Set<String>> interfaces() throws IOException {
        Map<String, Set<String>> devices = new TreeMap<>();
        for (Path device : list(sysfs.resolve("class/infiniband"))) {
            if (isIwarp(device)) {
                continue;
            }
            Set<String> names = new TreeSet<>();
            for (Path port : list(device.resolve("ports"))) {
                for (Path entry : list(port.resolve("gid_attrs/ndevs"))) {
                    try {
                        names.add(Files.readString(entry).strip());
                    } catch (IOException e) {
                        // An entry that is not used.
                        continue;
                    }
                }
            }
            devices.put(device.getFileName().toString(), names);
        }
        return devices;
    }

    private static List<Path> list(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            List<Path> list = new ArrayList<>();
            files.forEach(list::add);
            return list;
        }
    }
}
