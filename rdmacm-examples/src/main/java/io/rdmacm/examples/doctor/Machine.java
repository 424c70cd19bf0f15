// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Stream;

/** The files that tell which devices the kernel has, and what this process may do with them. */
record Machine(Path root) {
    private static final int IPC_LOCK = 14;
    private static final int ETHERNET_ADDRESS = "00:00:00:00:00:00".length();

    /** Returns the machine that this program runs on. */
    static Machine here() {
        return new Machine(Path.of("/"));
    }

    /** Returns the names of the kernel's devices. */
    List<String> devices() {
        return names(classes("infiniband"));
    }

    /** Returns the files through which programs reach the devices, and librdmacm its part of the kernel. */
    List<Path> deviceFiles() {
        return Stream.concat(Stream.of("rdma_cm"), names(classes("infiniband_verbs")).stream()
                .filter(name -> name.startsWith("uverbs"))).map(root.resolve("dev/infiniband")::resolve).toList();
    }

    /** Returns whether a device is a driver's alone, without a card. */
    boolean isSoftware(String device) {
        try {
            return classes("infiniband").resolve(device).toRealPath().toString().contains("/virtual/");
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Returns the network interfaces of a device: those of its GIDs, on InfiniBand those of its card, and those whose
     * Ethernet address is its GID, as on iWARP.
     */
    List<String> interfaces(String device) {
        Path folder = classes("infiniband").resolve(device);
        List<Path> ports = names(folder.resolve("ports")).stream().map(folder.resolve("ports")::resolve).toList();
        Stream<String> ofGids = ports.stream().map(port -> port.resolve("gid_attrs/ndevs"))
                .flatMap(table -> names(table).stream().map(index -> text(table.resolve(index))));
        Stream<String> ofAddresses = names(classes("net")).stream().filter(name -> {
            String address = text(classes("net").resolve(name).resolve("address"));
            return ports.stream().anyMatch(port -> isEthernetAddress(text(port.resolve("gids/0")), address));
        });
        return Stream.of(ofGids, names(folder.resolve("device/net")).stream(), ofAddresses)
                .flatMap(Function.identity()).filter(name -> !name.isEmpty()).distinct().toList();
    }

    private static boolean isEthernetAddress(String gid, String address) {
        return address.length() == ETHERNET_ADDRESS
                && gid.replace(":", "").equals(address.replace(":", "") + "0".repeat(20));
    }

    /** Returns how many bytes this process may lock in memory; empty if as many as it wants. */
    OptionalLong lockedMemory() {
        boolean privileged = text(root.resolve("proc/self/status")).lines().filter(line -> line.startsWith("CapEff:"))
                .anyMatch(line -> (Long.parseUnsignedLong(line.split("\\s+")[1], 16) >>> IPC_LOCK & 1) == 1);
        return privileged ? OptionalLong.empty() : text(root.resolve("proc/self/limits")).lines()
                .filter(line -> line.startsWith("Max locked memory")).map(line -> line.split("\\s+")[3])
                .filter(limit -> !limit.equals("unlimited")).mapToLong(Long::parseLong).findFirst();
    }

    /** Returns whether this is a container, whose devices are passed in from outside. */
    boolean isContainer() {
        return Files.exists(root.resolve(".dockerenv")) || Files.exists(root.resolve("run/.containerenv"));
    }

    private Path classes(String name) {
        return root.resolve("sys/class").resolve(name);
    }

    private static String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            // An empty entry of a table cannot be read.
            return "";
        }
    }

    private static List<String> names(Path folder) {
        String[] names = folder.toFile().list();
        return names == null ? List.of() : Arrays.stream(names).sorted().toList();
    }
}
