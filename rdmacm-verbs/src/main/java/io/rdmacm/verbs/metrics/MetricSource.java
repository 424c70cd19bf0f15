// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.metrics;

import java.util.Map;

/**
 * Something that operators watch: connections, streams, listeners, loops and pools. Its numbers are read at any time,
 * by any thread, with what a program uses for that: JMX ({@code io.rdmacm.core.JmxMetrics}), Micrometer or a log.
 */
@FunctionalInterface
public interface MetricSource {
    /**
     * Returns the numbers as of now.
     *
     * @return the numbers by name, in camel case; the same names each time, in the same order. After a close, the last
     *         ones, or zeros
     */
    Map<String, Long> metrics();
}
