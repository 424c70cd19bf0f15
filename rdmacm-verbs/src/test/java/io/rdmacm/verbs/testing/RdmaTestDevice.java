// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Optional;
import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;

/**
 * The first RDMA device of this machine, found without the library under test.
 *
 * @param name the kernel's name of it, such as {@code rxe0}
 * @param networkInterface the network interface that it is on
 */
public record RdmaTestDevice(String name, NetworkInterface networkInterface) {
    /** libibverbs looks there, too; set when a stand-in for the kernel is preloaded. */
    private static final String SYSFS = System.getenv("SYSFS_PATH");
    private static final File DEVICES = new File((SYSFS == null ? "/sys" : SYSFS) + "/class/infiniband");
    private static final Path CONNECTION_MANAGER = Path.of("/dev/infiniband/rdma_cm");

    /** Why there is no usable device; empty when there is one. */
    public static Optional<String> missing() {
        String[] names = DEVICES.list();
        if (names == null || names.length == 0) {
            return Optional.of("this machine has no RDMA device");
        }
        if (SYSFS == null && !Files.exists(CONNECTION_MANAGER)) {
            return Optional.of("this machine has no " + CONNECTION_MANAGER);
        }
        if (find().isEmpty()) {
            return Optional.of("the RDMA device " + String.join(", ", names)
                    + " is on no network interface with an IPv4 address");
        }
        return Optional.empty();
    }

    /**
     * The device.
     *
     * @throws AssertionError when there is none
     */
    public static RdmaTestDevice get() {
        return find().orElseThrow(() -> new AssertionError(missing().orElse("the RDMA device is gone")));
    }

    /** Whether it is an iWARP device, which has no immediate values, no atomic operations and no datagrams. */
    public boolean isIwarp() {
        try {
            return Files.readString(DEVICES.toPath().resolve(name + "/node_type")).contains("RNIC");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Skips a test that connects queue pairs by itself. */
    public static void assumeConnectedByHand() {
        assumeNotIwarp("only a connection manager connects its queue pairs");
    }

    /** Skips a test that needs more than iWARP. */
    public static void assumeNotIwarp(String reason) {
        Assumptions.assumeFalse(get().isIwarp(), () -> "the device is one of iWARP: " + reason);
    }

    /** Whether it sends so many more packets in time. Skips the test if it does not count them. */
    public boolean sends(long packets, Duration timeout) throws IOException {
        Path counter = DEVICES.toPath().resolve(name + "/ports/1/hw_counters/sent_pkts");
        Assumptions.assumeTrue(Files.exists(counter), "the device does not count its packets as SoftRoCE does");
        long enough = Long.parseLong(Files.readString(counter).strip()) + packets;
        long end = System.nanoTime() + timeout.toNanos();
        boolean sent = false;
        while (!sent && System.nanoTime() < end) {
            Thread.yield();
            sent = Long.parseLong(Files.readString(counter).strip()) >= enough;
        }
        return sent;
    }

    /** An IPv4 address of it. */
    public Inet4Address ipv4() {
        return addresses(Inet4Address.class).findFirst().orElseThrow();
    }

    /** An IPv6 address of it, a link-local one (with its scope) only when there is no other. */
    public Optional<Inet6Address> ipv6() {
        return addresses(Inet6Address.class).min(Comparator.comparing(Inet6Address::isLinkLocalAddress))
                .map(address -> address.isLinkLocalAddress() ? address : withoutScope(address));
    }

    /** Java names the interface in all addresses of interfaces, which C programs do not take. */
    private static Inet6Address withoutScope(Inet6Address address) {
        try {
            return Inet6Address.getByAddress(null, address.getAddress(), -1);
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are an address", e);
        }
    }

    private <T extends InetAddress> Stream<T> addresses(Class<T> type) {
        return networkInterface.inetAddresses().filter(type::isInstance).map(type::cast);
    }

    private static Optional<RdmaTestDevice> find() {
        String[] names = DEVICES.list();
        return Stream.of(names == null ? new String[0] : names).sorted()
                .flatMap(name -> interfaceOf(name).stream())
                .filter(device -> device.addresses(Inet4Address.class).findAny().isPresent())
                .findFirst();
    }

    private static Optional<RdmaTestDevice> interfaceOf(String device) {
        Path port = DEVICES.toPath().resolve(device + "/ports/1");
        try {
            return Optional.ofNullable(NetworkInterface.getByName(Files.readString(
                    port.resolve("gid_attrs/ndevs/0")).strip())).map(found -> new RdmaTestDevice(device, found));
        } catch (IOException e) {
            // a port without an Ethernet interface, or iWARP before Linux 6.5: reading the file fails
            return interfaceOfGid(port).map(found -> new RdmaTestDevice(device, found));
        }
    }

    /** The GID of an iWARP device begins with the MAC address of its interface. */
    private static Optional<NetworkInterface> interfaceOfGid(Path port) {
        try {
            byte[] gid = HexFormat.of().parseHex(Files.readString(port.resolve("gids/0")).strip().replace(":", ""));
            for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                byte[] mac = each.getHardwareAddress();
                if (mac != null && Arrays.equals(mac, Arrays.copyOf(gid, mac.length))) {
                    return Optional.of(each);
                }
            }
        } catch (IOException e) {
            // no GID
        }
        return Optional.empty();
    }
}
