// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.doctor;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

import io.rdmacm.bindings.NativeLibrary;

/** Examines what programs need before they can open a device: libraries, the kernel's part, permissions and limits. */
record Surroundings(Machine machine, Findings findings) {
    private static final int OLDEST_RELEASE = 44;
    private static final long MUCH_MEMORY = 64L << 20;

    void examine() {
        library(NativeLibrary.LIBIBVERBS, "ibv_get_device_list");
        library(NativeLibrary.LIBRDMACM, "rdma_create_event_channel");
        kernel();
        if (!machine.devices().isEmpty()) {
            machine.deviceFiles().forEach(this::permission);
        }
        lockedMemory();
    }

    private void library(NativeLibrary library, String function) {
        try {
            library.find(function);
        } catch (UnsatisfiedLinkError e) {
            findings.problem("libraries", "cannot open " + library.soname(), "install the package "
                    + library.debianPackage() + " (rdma-core on other systems than Debian and Ubuntu)");
            return;
        }
        Optional<String> release = library.release();
        String text = library.soname() + release.map(number -> " of rdma-core " + number).orElse(" of unknown release");
        if (release.map(number -> Integer.parseInt(number.replaceFirst("\\..*", "")) < OLDEST_RELEASE).orElse(false)) {
            findings.problem("libraries", text, "install rdma-core " + OLDEST_RELEASE + " or later");
        } else {
            findings.ok("libraries", text, Map.of("library", library.soname(), "release", release.orElse("")));
        }
    }

    private void kernel() {
        if (machine.devices().isEmpty()) {
            findings.problem("kernel", "this machine has no RDMA device",
                    "load the driver of the card; without a card, create a software device: `modprobe rdma_rxe && rdma"
                            + " link add rxe0 type rxe netdev INTERFACE`, or prefix commands with scripts/with-rdma");
        } else {
            findings.ok("kernel", "devices: " + String.join(", ", machine.devices()));
        }
    }

    private void permission(Path file) {
        if (!Files.exists(file)) {
            String module = file.endsWith("rdma_cm") ? "rdma_ucm" : "ib_uverbs";
            findings.problem("permissions", file + " is missing", machine.isContainer()
                    ? "start the container with the devices of the host: --device=/dev/infiniband/" + file.getFileName()
                    : "`modprobe " + module + "`; in a container, pass the file into it");
        } else if (!Files.isReadable(file) || !Files.isWritable(file)) {
            findings.problem("permissions", file + " is not readable and writable for this user",
                    "the udev rules of rdma-core make it so for all: install it, or `chmod a+rw " + file + "`");
        } else {
            findings.ok("permissions", file.toString());
        }
    }

    private void lockedMemory() {
        OptionalLong limit = machine.lockedMemory();
        if (limit.isEmpty()) {
            findings.ok("limits", "memory can be registered without limit");
        } else if (limit.getAsLong() < MUCH_MEMORY) {
            findings.warning("limits", "at most " + (limit.getAsLong() >> 10) + " KiB of memory can be registered",
                    "raise memlock: `ulimit -l unlimited`, /etc/security/limits.conf, LimitMEMLOCK=infinity of a"
                            + " systemd service, --ulimit memlock=-1 of a container",
                    Map.of("memlock", limit.getAsLong()));
        } else {
            findings.ok("limits", "at most " + (limit.getAsLong() >> 20) + " MiB of memory can be registered",
                    Map.of("memlock", limit.getAsLong()));
        }
    }
}
