// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.GlobalRoute;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.RnrTimer;

/**
 * What stands in for the kernel and an mlx5 card, so that the real libmlx5 is measured: preloaded into this process and
 * those that it starts. It completes requests in advance, so that nobody waits for it.
 */
final class Mlx5StandIn {
    /** Entries of the completion queue; one is added. */
    static final int COMPLETIONS = PostAndPollOverMlx5.OPERATIONS - 1;

    private static final int MTU = 1024;
    private static final String KERNEL = "libkernel.so";
    private static final String LOOP = "driverloop";
    private static final String SYSFS = "sysfs.sh";

    private Mlx5StandIn() {
    }

    private static final class Foresee {
        @SuppressWarnings("restricted")
        static final MethodHandle HANDLE = Linker.nativeLinker().downcallHandle(
                SymbolLookup.libraryLookup(preloaded(), Arena.global()).find("kernel_foresee").orElseThrow(),
                FunctionDescriptor.ofVoid());
    }

    static String missing() {
        return NativeFiles.missing(KERNEL);
    }

    /** Returns whether this process has the card. */
    static boolean isPreloaded() {
        return System.getenv().getOrDefault("LD_PRELOAD", "").contains(KERNEL);
    }

    /** Runs a class with the card, in a JVM like this one, and returns its status. */
    static int run(Class<?> main, String... arguments) throws IOException, InterruptedException {
        Path folder = NativeFiles.unpack(KERNEL, LOOP, SYSFS);
        Path devices = folder.resolve("sys");
        int made = new ProcessBuilder("sh", folder.resolve(SYSFS).toString(), devices.toString()).inheritIO().start()
                .waitFor();
        if (made != 0) {
            throw new IOException(SYSFS + " ended with " + made);
        }
        List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow()));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        builder.environment().put("LD_PRELOAD", folder.resolve(KERNEL).toString());
        builder.environment().put("SYSFS_PATH", devices.toString());
        try {
            return builder.start().waitFor();
        } finally {
            new ProcessBuilder("rm", "-rf", devices.toString()).start().waitFor();
        }
    }

    /** Returns the path of the loop in C, next to what is preloaded. */
    static Path loop() {
        return preloaded().resolveSibling(LOOP);
    }

    private static Path preloaded() {
        return Path.of(System.getenv("LD_PRELOAD"));
    }

    /** Completes as many requests as fit into the completion queue, before they are posted. */
    static void foresee() {
        try {
            Foresee.HANDLE.invokeExact();
        } catch (Throwable e) {
            throw new AssertionError("the function throws nothing", e);
        }
    }

    /** Modifies a queue pair, whatever class it has. */
    @FunctionalInterface
    interface Modify {
        void to(QueuePairAttributes attributes) throws RdmaException;
    }

    /** Connects a queue pair with itself. */
    static void connect(VerbsContext context, int number, Modify pair) throws RdmaException {
        AddressAttributes path = AddressAttributes.builder().port(1)
                .globalRoute(new GlobalRoute(context.queryGid(1, 0), 0, 0, 1, 0)).build();
        pair.to(QueuePairTransitions.Rc.resetToInit(1, 0));
        pair.to(QueuePairTransitions.Rc.initToRtr(path, MTU, number, 0, 1, RnrTimer.ofCode(0)));
        pair.to(QueuePairTransitions.Rc.rtrToRts(0, AckTimeout.ofCode(0), 0, 0, 1));
    }

    /** Makes the library call the driver as it calls that of a card: it posts without a system call. */
    static void standIn() {
        if (!isPreloaded() || !Files.exists(loop())) {
            throw new IllegalStateException("the stand-in is not preloaded");
        }
        System.setProperty("io.rdmacm.critical.devices", "mlx5_0");
    }
}
