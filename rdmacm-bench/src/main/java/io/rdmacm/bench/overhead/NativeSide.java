// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The C side of the benchmarks without a device, which the build compiles into a folder beside the classes: the loops,
 * and what stands in for a device. That is a library in place of libibverbs; or the kernel and an mlx5 card for the
 * real libmlx5, preloaded into this process and those that it starts. The card completes requests in advance, so that
 * nobody waits for it.
 */
final class NativeSide {
    private static final String KERNEL = "libkernel.so";
    private static final Path FOLDER = Path.of(URI.create(
            NativeSide.class.getProtectionDomain().getCodeSource().getLocation().toString())).resolveSibling("native");

    private NativeSide() {
    }

    private static final class Foresee {
        @SuppressWarnings("restricted")
        static final MethodHandle HANDLE = Linker.nativeLinker().downcallHandle(
                SymbolLookup.libraryLookup(FOLDER.resolve(KERNEL), Arena.global()).find("kernel_foresee").orElseThrow(),
                FunctionDescriptor.ofVoid());
    }

    /** Returns why the C side is missing; null if it is there. */
    static String missing() {
        Path reason = FOLDER.resolve("missing.txt");
        try {
            return Files.exists(reason) ? Files.readString(reason).strip()
                    : Files.exists(FOLDER) ? null : FOLDER + " was not built: build with Maven, where gcc is";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns whether this process has the card. */
    static boolean hasCard() {
        return System.getenv().getOrDefault("LD_PRELOAD", "").contains(KERNEL);
    }

    /** Runs a class with the card, in a JVM like this one, and returns its status. */
    static int runWithCard(Class<?> main, String... arguments) throws IOException, InterruptedException {
        Path devices = Files.createTempDirectory("rdmacm-bench");
        int made = new ProcessBuilder("sh", FOLDER.resolve("sysfs.sh").toString(), devices.toString()).inheritIO()
                .start().waitFor();
        if (made != 0) {
            throw new IOException("sysfs.sh ended with " + made);
        }
        List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow()));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        builder.environment().put("LD_PRELOAD", FOLDER.resolve(KERNEL).toString());
        builder.environment().put("SYSFS_PATH", devices.toString());
        try {
            return builder.start().waitFor();
        } finally {
            new ProcessBuilder("rm", "-rf", devices.toString()).start().waitFor();
        }
    }

    /** Makes the library use what stands in for a device; to be called before the first use of libibverbs. */
    static void standIn() {
        if (!hasCard()) {
            System.setProperty("io.rdmacm.libibverbs", FOLDER.resolve("libnullverbs.so").toString());
        }
        // both post without a system call, as hardware drivers do
        System.setProperty("io.rdmacm.critical.devices", hasCard() ? "mlx5_0" : "null0");
    }

    /** Has the card complete as many requests as fit into the completion queue, before they are posted. */
    static void foresee() {
        try {
            Foresee.HANDLE.invokeExact();
        } catch (Throwable e) {
            throw new AssertionError("the function throws nothing", e);
        }
    }

    static Path file(String name) {
        return FOLDER.resolve(name);
    }
}
