// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty.testing;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.netty.util.ResourceLeakDetector;

/**
 * A leak detector of Netty that keeps its reports. Netty takes it from the system property
 * {@code io.netty.customResourceLeakDetector} as soon as the first buffer is allocated.
 *
 * @param <T> what may leak
 */
public final class LeakReports<T> extends ResourceLeakDetector<T> {
    private static final Queue<String> REPORTS = new ConcurrentLinkedQueue<>();

    /** Called by Netty. */
    public LeakReports(Class<?> type, int samplingInterval) {
        super(type, samplingInterval);
    }

    /** Looked for by Netty, which logs an error if it is missing. */
    public LeakReports(Class<?> type, int samplingInterval, long maxActive) {
        this(type, samplingInterval);
    }

    /** Returns the reports since the last call. */
    static List<String> take() {
        List<String> reports = List.copyOf(REPORTS);
        REPORTS.clear();
        return reports;
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
