// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a figure of the summary is to be.
 *
 * @param name of the figure
 * @param meaning what it compares
 * @param limit where it is to stay
 * @param below whether it is to stay below
 */
record Goal(String name, String meaning, double limit, boolean below) {
    private static final List<Goal> ALL = List.of(
            atMost("overhead_batch1", "post and poll without a device, one at a time: Java / C", 1.15),
            atMost("overhead_batch16", "post and poll without a device, 16 at a time: Java / C", 1.05),
            atLeast("jni_over_java", "post and poll without a device: JNI / Java", 1.5),
            atLeast("naive_over_java", "post and poll without a device: generated bindings used naively / Java", 1.5),
            atMost("send_latency", "latency of sends: Java / perftest", 1.05),
            atMost("write_latency", "latency of RDMA writes: Java / perftest", 1.05),
            atMost("read_latency", "latency of RDMA reads: Java / perftest", 1.05),
            atLeast("bandwidth_64k", "bandwidth with 64 KiB: Java / perftest", 0.97),
            atLeast("bandwidth_1m", "bandwidth with 1 MiB: Java / perftest", 0.97),
            atLeast("connect_rate", "connections set up in a second: Java / cmtime", 0));

    private static Goal atMost(String name, String meaning, double limit) {
        return new Goal(name, meaning, limit, true);
    }

    private static Goal atLeast(String name, String meaning, double limit) {
        return new Goal(name, meaning, limit, false);
    }

    /** {@return those of all figures of the summary} */
    static List<Goal> all() {
        return ALL;
    }

    /** {@return the limit in words; empty when there is none} */
    String text() {
        return limit == 0 ? "" : String.format(Locale.ROOT, "%s %.2f", below ? "≤" : "≥", limit);
    }

    /** {@return the figure in words} */
    String value(Map<String, Double> summary) {
        Double ratio = summary.get(name);
        return ratio == null ? "not run" : String.format(Locale.ROOT, "%.3f", ratio);
    }

    /** {@return whether it is reached; true when it was not run} */
    boolean isMet(Map<String, Double> summary) {
        Double ratio = summary.get(name);
        return ratio == null || (below ? ratio <= limit : ratio >= limit);
    }
}
