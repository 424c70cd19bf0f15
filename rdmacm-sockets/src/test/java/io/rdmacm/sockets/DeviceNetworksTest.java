// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The networks of devices, from a copy of what the kernel shows. */
class DeviceNetworksTest {
    @Test
    void theyAreThoseOfTheInterfacesOfTheDevices(@TempDir Path sysfs) throws Exception {
        Optional<NetworkInterface> found = NetworkInterface.networkInterfaces().filter(DeviceNetworksTest::hasNetwork)
                .findFirst();
        assumeTrue(found.isPresent(), "this machine is on no network");
        Path entries = sysfs.resolve("class/infiniband/rxe0/ports/1/gid_attrs/ndevs");
        Files.createDirectories(entries);
        Files.writeString(entries.resolve("0"), found.get().getName() + "\n");
        Files.writeString(entries.resolve("1"), "none\n");
        // As one that is not used: it cannot be read.
        Files.createDirectory(entries.resolve("2"));
        DeviceNetworks networks = new DeviceNetworks(sysfs);
        InterfaceAddress address = found.get().getInterfaceAddresses().stream()
                .filter(one -> one.getAddress() instanceof Inet4Address).findFirst().orElseThrow();

        assertThat(networks.isEmpty()).isFalse();
        assertThat(networks.isOwn(address.getAddress())).isTrue();
        assertThat(networks.find(address.getAddress())).isNotNull().satisfies(of -> {
            assertThat(of.device()).isEqualTo("rxe0");
            assertThat(of.network().prefix()).isEqualTo(address.getNetworkPrefixLength());
        });
        assertThat(networks.isOwn(Inet4Address.getLoopbackAddress())).isFalse();
    }

    @Test
    void theInterfacesOfTheDevicesAreLookedUpWhenSomethingHasChangedAndOnceMore(@TempDir Path sysfs) throws Exception {
        Optional<NetworkInterface> found = NetworkInterface.networkInterfaces().filter(DeviceNetworksTest::hasNetwork)
                .findFirst();
        assumeTrue(found.isPresent(), "this machine is on no network");
        Path ports = Path.of("ports/1/gid_attrs/ndevs");
        Path entries = Files.createDirectories(sysfs.resolve("class/infiniband/rxe0").resolve(ports));
        DeviceNetworks networks = new DeviceNetworks(sysfs);
        assertThat(networks.query()).isEmpty();

        Files.writeString(entries.resolve("0"), found.get().getName());
        assertThat(networks.query()).isNotEmpty();

        Files.delete(entries.resolve("0"));
        assertThat(networks.query()).isNotEmpty();

        Files.createDirectories(sysfs.resolve("class/infiniband/rxe1").resolve(ports));
        assertThat(networks.query()).isEmpty();
    }

    @Test
    void thoseOfIwarpAreLeftToTcp(@TempDir Path sysfs) throws Exception {
        Optional<NetworkInterface> found = NetworkInterface.networkInterfaces().filter(DeviceNetworksTest::hasNetwork)
                .findFirst();
        assumeTrue(found.isPresent(), "this machine is on no network");
        Path device = sysfs.resolve("class/infiniband/siw0");
        Path entries = Files.createDirectories(device.resolve("ports/1/gid_attrs/ndevs"));
        Files.writeString(entries.resolve("0"), found.get().getName());
        Path type = Files.writeString(device.resolve("node_type"), "1: CA\n");
        assertThat(new DeviceNetworks(sysfs).isEmpty()).isFalse();

        Files.writeString(type, "4: RNIC\n");
        assertThat(new DeviceNetworks(sysfs).isEmpty()).isTrue();
    }

    private static boolean hasNetwork(NetworkInterface one) {
        try {
            return one.isUp() && !one.isLoopback() && one.getInterfaceAddresses().stream().anyMatch(
                    address -> address.getAddress() instanceof Inet4Address
                            && !address.getAddress().isLinkLocalAddress());
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void thereAreNoneWithoutADevice(@TempDir Path sysfs) throws Exception {
        assertThat(new DeviceNetworks(sysfs).isEmpty()).isTrue();
    }
}
