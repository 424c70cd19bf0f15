// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Hints at what the user can do about an error. */
public final class Hints {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");
    private static final Path DEVICE_FILES = Path.of("/dev/infiniband");

    private static final String NO_PERMISSION = "no permission: is " + DEVICE_FILES
            + "/* readable and writable for this user?";

    private Hints() {
    }

    /** Returns the end of a message: {@code " - "} and a hint, or an empty string. */
    public static String of(String function, int errno) {
        String hint = switch (Errno.name(errno)) {
            case "ENODEV", "ENOENT" -> noDevice(function);
            case "ENOSYS" -> function.equals("ibv_get_device_list") ? noVerbs(function) : "";
            case "EACCES", "EPERM" -> NO_PERMISSION;
            case "ENOMEM" -> registers(function)
                    ? "is the limit of locked memory (ulimit -l, LimitMEMLOCK) large enough?"
                    : "";
            case "EMFILE" -> "the limit of open files (ulimit -n) is reached";
            default -> "";
        };
        return hint.isEmpty() ? "" : " - " + hint;
    }

    private static String noDevice(String function) {
        if (!Files.isDirectory(DEVICES) || isEmpty(DEVICES)) {
            return "this machine has no RDMA device (see `rdma link`); to create a software device, run"
                    + " `modprobe rdma_rxe && rdma link add rxe0 type rxe netdev INTERFACE`";
        }
        if (isForbidden(function)) {
            return NO_PERMISSION;
        }
        if (!Files.exists(DEVICE_FILES.resolve("rdma_cm")) && function.startsWith("rdma_")) {
            return DEVICE_FILES + "/rdma_cm is missing: `modprobe rdma_ucm`, or pass the file into the container";
        }
        return function.startsWith("rdma_")
                ? "no RDMA device serves this address (see `rdma link`), or the package ibverbs-providers is missing"
                : "";
    }

    /** Returns whether a device file cannot be accessed; the C libraries then report that there is no device. */
    private static boolean isForbidden(String function) {
        String prefix = function.startsWith("rdma_") ? "rdma_cm" : "uverbs";
        String[] names = DEVICE_FILES.toFile().list((folder, name) -> name.startsWith(prefix));
        return names != null && Arrays.stream(names).map(DEVICE_FILES::resolve)
                .anyMatch(file -> !Files.isReadable(file) || !Files.isWritable(file));
    }

    /** Returns the hint for ENOSYS, which libibverbs reports if a kernel module is missing. */
    private static String noVerbs(String function) {
        String noDevice = noDevice(function);
        return noDevice.isEmpty() ? "the kernel module ib_uverbs is missing: `modprobe ib_uverbs`" : noDevice;
    }

    private static boolean isEmpty(Path folder) {
        String[] names = folder.toFile().list();
        return names == null || names.length == 0;
    }

    private static boolean registers(String function) {
        return function.contains("reg_") || function.contains("create_qp") || function.contains("create_cq")
                || function.contains("create_srq");
    }
}
