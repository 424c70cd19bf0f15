// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.testing.FakeVerbs;

/** Loses native objects, some of them closed, and prints what is logged about it. */
public final class LoseObjects {
    private static final ByteArrayOutputStream LOG = new ByteArrayOutputStream();
    private static final long SECONDS = 120;

    private LoseObjects() {
    }

    /** The argument {@code detect} waits for the reports; {@code ignore} only runs the collector. */
    public static void main(String[] arguments) throws RdmaException {
        PrintStream console = System.err;
        System.setErr(new PrintStream(LOG, true, StandardCharsets.UTF_8));
        boolean detect = arguments[0].equals("detect");
        closeAll();
        lose(1234);
        // A reference queue has no order: all that the test looks for is waited for.
        collect(detect, "MemoryRegion[1234 bytes");
        collect(detect, "VerbsContext[fake0] was lost");
        lose(2345);
        collect(detect, "MemoryRegion[2345 bytes");
        loseEvent();
        collect(detect, "AsyncEvent[PORT_ACTIVE of port 1 of fake0] was lost");
        loseSlice();
        collect(detect, "RegisteredSlice[448 bytes at 0 of ");
        collect(detect, "RegisteredPool[slices of 448 bytes, ");
        System.setErr(console);
        System.out.print(LOG.toString(StandardCharsets.UTF_8));
    }

    private static void closeAll() throws RdmaException {
        try (VerbsContext context = Device.list().getFirst().open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                MemoryRegion region = domain.allocate(4321);
                RegisteredPool pool = RegisteredPool.create(domain, 320);
                RegisteredSlice slice = pool.take()) {
            region.handle();
            slice.memory();
        }
    }

    private static void lose(long bytes) throws RdmaException {
        Device.list().getFirst().open().allocateProtectionDomain().allocate(bytes);
    }

    private static void loseEvent() throws RdmaException {
        VerbsContext context = Device.list().getFirst().open();
        FakeVerbs.async(context.handle(), AsyncEventType.PORT_ACTIVE.value(), 1);
        context.pollAsyncEvent().orElseThrow();
    }

    private static void loseSlice() throws RdmaException {
        RegisteredPool pool = RegisteredPool.create(Device.list().getFirst().open().allocateProtectionDomain(), 448);
        pool.take();
        pool.take().close();
    }

    private static void collect(boolean wait, String report) {
        long start = System.nanoTime();
        do {
            System.gc();
        } while (wait && !LOG.toString(StandardCharsets.UTF_8).contains(report)
                && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(SECONDS));
    }
}
