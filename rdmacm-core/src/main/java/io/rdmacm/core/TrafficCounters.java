// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.LinkedHashMap;
import java.util.Map;

import io.rdmacm.verbs.metrics.MetricSource;

/**
 * What a connection of any kind has sent and received so far: {@link io.rdmacm.core.connection.ConnectionCounters} and
 * {@link io.rdmacm.core.stream.StreamCounters} have more to tell.
 */
public interface TrafficCounters extends MetricSource {
    /** {@return the messages that were handed to the device} */
    long messagesSent();

    /** {@return the bytes that were handed to the device} */
    long bytesSent();

    /** {@return the messages that have arrived} */
    long messagesReceived();

    /** {@return the bytes that have arrived} */
    long bytesReceived();

    /** {@return these numbers by the names of their methods} */
    @Override
    default Map<String, Long> metrics() {
        Map<String, Long> metrics = new LinkedHashMap<>();
        metrics.put("messagesSent", messagesSent());
        metrics.put("bytesSent", bytesSent());
        metrics.put("messagesReceived", messagesReceived());
        metrics.put("bytesReceived", bytesReceived());
        return metrics;
    }
}
