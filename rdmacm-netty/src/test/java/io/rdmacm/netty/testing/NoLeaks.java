// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty.testing;

import java.util.List;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Fails a class in which a buffer was leaked. Netty's leak detector watches each buffer, see {@link LeakReports}. */
public final class NoLeaks implements BeforeAllCallback, AfterAllCallback {
    // Reports appear when buffers are allocated after the garbage collection that has found them.
    private static final int COLLECTIONS = 3;

    @Override
    public void beforeAll(ExtensionContext context) {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        reports();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        List<String> reports = reports();
        if (!reports.isEmpty()) {
            throw new AssertionError(reports.size() + " buffers were leaked:\n" + String.join("\n", reports));
        }
    }

    /** Returns what has leaked since the last call. */
    public static List<String> reports() {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            PooledByteBufAllocator.DEFAULT.directBuffer(1).release();
        }
        return LeakReports.take();
    }
}
