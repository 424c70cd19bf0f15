// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty.testing;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Fails a class in which a buffer was leaked. Netty's leak detector watches each buffer. */
public final class NoLeaks implements BeforeAllCallback, AfterAllCallback {
    private static final Queue<String> REPORTS = new ConcurrentLinkedQueue<>();
    // Reports appear when buffers are allocated after the garbage collection that has found them.
    private static final int COLLECTIONS = 3;

    /** Keeps reports. */
    private static final class Detector<T> extends ResourceLeakDetector<T> {
        Detector(Class<?> type, int samplingInterval) {
            super(type, samplingInterval);
        }

        @Override
        protected boolean needReport() {
            return true;
        }

        @Override
        protected void reportTracedLeak(String resourceType, String records) {
            REPORTS.add(resourceType + records);
        }

        @Override
        protected void reportUntracedLeak(String resourceType) {
            REPORTS.add(resourceType);
        }
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new ResourceLeakDetectorFactory() {
            @Override
            @Deprecated
            public <T> ResourceLeakDetector<T> newResourceLeakDetector(Class<T> resource, int interval, long active) {
                return new Detector<>(resource, interval);
            }

            @Override
            public <T> ResourceLeakDetector<T> newResourceLeakDetector(Class<T> resource, int interval) {
                return new Detector<>(resource, interval);
            }
        });
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
            ByteBuf probe = PooledByteBufAllocator.DEFAULT.directBuffer(1);
            probe.release();
        }
        List<String> reports = List.copyOf(REPORTS);
        REPORTS.clear();
        return reports;
    }
}
