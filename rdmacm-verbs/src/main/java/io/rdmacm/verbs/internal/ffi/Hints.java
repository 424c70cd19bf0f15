// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;

/**
 * Hints at what the user can do about an error. They depend on the number of the error, because not every C library
 * knows its name.
 */
public final class Hints {
    private static final Hints SYSTEM = new Hints(Path.of("/sys/class"), Path.of("/dev/infiniband"));

    private static final Set<String> BIND = Set.of("rdma_bind_addr", "rdma_resolve_addr");

    private final Path devices;
    private final Path verbs;
    private final Path deviceFiles;

    Hints(Path classes, Path deviceFiles) {
        this.devices = classes.resolve("infiniband");
        this.verbs = classes.resolve("infiniband_verbs");
        this.deviceFiles = deviceFiles;
    }

    /** Returns the end of a message: {@code " - "} and a hint, or an empty string. */
    public static String of(String function, int errno) {
        String hint = SYSTEM.hint(function, errno);
        return hint.isEmpty() ? "" : " - " + hint;
    }

    /**
     * Returns whether addresses of the loopback interface lead to no device: those of RoCE serve only the addresses of
     * their network interfaces.
     */
    public static boolean isLoopbackWithoutDevice() {
        return SYSTEM.hasOnlyRoce();
    }

    /** Returns whether a device speaks iWARP. */
    public static boolean hasIwarp() {
        return SYSTEM.hasRnic();
    }

    String hint(String function, int errno) {
        if (errno == Rdma.ENODEV() || errno == Rdma.ENOENT()) {
            return noDevice(function);
        }
        if (errno == Rdma.ENOSYS()) {
            return function.equals("ibv_get_device_list") ? noVerbs(function) : "";
        }
        if (errno == Rdma.EACCES() || errno == Rdma.EPERM()) {
            return noPermission(function);
        }
        if (errno == Rdma.ENOMEM()) {
            return noMemory(function);
        }
        if (errno == Rdma.EFAULT()) {
            return function.contains("reg_") ? "is the memory mapped, and writable? Since Linux 6.5, a file of a file"
                    + " system on disk must be mapped privately (MapMode.PRIVATE), unless the device pages on demand;"
                    + " files in /dev/shm and huge pages can be mapped as usual" : "";
        }
        return errno == Rdma.EMFILE() ? "the limit of open files (ulimit -n) is reached" : "";
    }

    private String noPermission(String function) {
        if (BIND.contains(function)) {
            return "ports below 1024 (net.ipv4.ip_unprivileged_port_start) need the capability CAP_NET_BIND_SERVICE";
        }
        if (function.contains("create_qp")) {
            return "queue pairs of type RAW_PACKET need the capability CAP_NET_RAW";
        }
        return "no permission: is " + deviceFiles + "/* readable and writable for this user?";
    }

    private static String noMemory(String function) {
        if (function.equals("ibv_post_send") || function.equals("ibv_wr_complete")) {
            return "is the send queue full? Requests occupy it until their completion, or for unsignaled ones that of a"
                    + " later signaled request, has been polled";
        }
        if (function.endsWith("_recv")) {
            return "is the receive queue full?";
        }
        return registers(function) ? "is the limit of locked memory (ulimit -l, LimitMEMLOCK) large enough?" : "";
    }

    private String noDevice(String function) {
        if (names(devices).isEmpty()) {
            return "this machine has no RDMA device (see `rdma link`); to create a software device, run"
                    + " `modprobe rdma_rxe && rdma link add rxe0 type rxe netdev INTERFACE`";
        }
        boolean connects = function.startsWith("rdma_");
        List<String> needed = Stream.concat(connects ? Stream.of("rdma_cm") : Stream.empty(),
                names(verbs).stream().filter(name -> name.startsWith("uverbs"))).toList();
        for (String name : needed) {
            Path file = deviceFiles.resolve(name);
            if (!Files.exists(file)) {
                return file + " is missing: " + (name.equals("rdma_cm") ? "`modprobe rdma_ucm`, or " : "")
                        + "pass the file into the container";
            }
            if (!Files.isReadable(file) || !Files.isWritable(file)) {
                return noPermission("");
            }
        }
        return connects ? "no RDMA device serves this address (" + served() + "), or the package ibverbs-providers is"
                + " missing" : "";
    }

    /** Returns the hint for ENOSYS, which libibverbs reports if a kernel module is missing. */
    private String noVerbs(String function) {
        String noDevice = noDevice(function);
        return noDevice.isEmpty() ? "the kernel module ib_uverbs is missing: `modprobe ib_uverbs`" : noDevice;
    }

    /** Returns which addresses the devices serve, as far as their network interfaces tell. */
    private String served() {
        String served = names(devices).stream().flatMap(device -> interfaces(device)
                .map(name -> addresses(name)).filter(addresses -> !addresses.isEmpty())
                .map(addresses -> device + " serves " + addresses)).distinct().collect(Collectors.joining("; "));
        return served.isEmpty() ? "see `rdma link`" : served;
    }

    private Stream<String> interfaces(String device) {
        Path ports = devices.resolve(device).resolve("ports");
        return names(ports).stream().map(port -> ports.resolve(port).resolve("gid_attrs/ndevs/0"))
                .map(Hints::line).filter(name -> !name.isEmpty());
    }

    private static String addresses(String networkInterface) {
        try {
            NetworkInterface found = NetworkInterface.getByName(networkInterface);
            return found == null ? "" : found.inetAddresses().filter(address -> !address.isLinkLocalAddress())
                    .map(InetAddress::getHostAddress).map(text -> text.replaceFirst("%.*", ""))
                    .collect(Collectors.joining(", "));
        } catch (SocketException e) {
            return "";
        }
    }

    boolean hasOnlyRoce() {
        List<String> all = names(devices);
        return !all.isEmpty() && all.stream().map(devices::resolve).allMatch(device ->
                nodeType(device).startsWith("1") && names(device.resolve("ports")).stream()
                        .allMatch(port -> line(device.resolve("ports").resolve(port).resolve("link_layer"))
                                .equals("Ethernet")));
    }

    boolean hasRnic() {
        return names(devices).stream().anyMatch(device -> nodeType(devices.resolve(device)).startsWith("4"));
    }

    private static String nodeType(Path device) {
        return line(device.resolve("node_type"));
    }

    /** Returns the first line of a file of sysfs; an empty string if it cannot be read. */
    private static String line(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "";
        }
    }

    private static List<String> names(Path folder) {
        String[] names = folder.toFile().list();
        return names == null ? List.of() : Arrays.stream(names).sorted().toList();
    }

    private static boolean registers(String function) {
        return function.contains("reg_") || function.contains("create_qp") || function.contains("create_cq")
                || function.contains("create_srq");
    }
}
