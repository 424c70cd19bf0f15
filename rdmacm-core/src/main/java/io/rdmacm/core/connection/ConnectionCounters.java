// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.rdmacm.core.TrafficCounters;

/** What a connection, or all connections of a manager, have done so far. Immutable. */
public final class ConnectionCounters implements TrafficCounters {
    /** Nothing yet. */
    static final ConnectionCounters NONE = new Recorder().snapshot(0);

    private final Recorder counted;
    private final long receivesExhausted;

    private ConnectionCounters(Recorder counted, long receivesExhausted) {
        this.counted = counted;
        this.receivesExhausted = receivesExhausted;
    }

    /** {@return the messages that were handed to the device} */
    @Override
    public long messagesSent() {
        return counted.messagesSent;
    }

    /** {@return the bytes of the messages that were handed to the device} */
    @Override
    public long bytesSent() {
        return counted.bytesSent;
    }

    /** {@return the messages and remote writes with immediate values that have arrived} */
    @Override
    public long messagesReceived() {
        return counted.messagesReceived;
    }

    /** {@return the bytes of the messages and remote writes with immediate values that have arrived} */
    @Override
    public long bytesReceived() {
        return counted.bytesReceived;
    }

    /** {@return the reads, writes and atomic operations that were handed to the device} */
    public long operations() {
        return counted.operations;
    }

    /** {@return the bytes of the reads, writes and atomic operations that were handed to the device} */
    public long operationBytes() {
        return counted.operationBytes;
    }

    /**
     * {@return how often the last posted receive was used; if a message arrives then, the peer's device has to send it
     * again (RNR), which is counted by the device only, for each port}
     */
    public long receivesExhausted() {
        return receivesExhausted;
    }

    /**
     * {@return how often a thread slept because nothing had happened for the time that
     * {@link ConnectionSettings#waiting()} allows for polling}
     */
    public long waits() {
        return counted.waits;
    }

    /** {@return how long threads have slept in total} */
    public Duration asleep() {
        return Duration.ofNanos(counted.nanosAsleep);
    }

    /** {@return these numbers by the names of their methods; the time asleep in nanoseconds, {@code asleepNanos}} */
    @Override
    public Map<String, Long> metrics() {
        Map<String, Long> metrics = TrafficCounters.super.metrics();
        metrics.put("operations", operations());
        metrics.put("operationBytes", operationBytes());
        metrics.put("receivesExhausted", receivesExhausted());
        metrics.put("waits", waits());
        metrics.put("asleepNanos", counted.nanosAsleep);
        return metrics;
    }

    /** Returns the sum of these and others. */
    ConnectionCounters plus(ConnectionCounters other) {
        Recorder sum = new Recorder();
        sum.add(counted);
        sum.add(other.counted);
        return new ConnectionCounters(sum, receivesExhausted + other.receivesExhausted);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ConnectionCounters that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<Object> values() {
        return List.of(messagesSent(), bytesSent(), messagesReceived(), bytesReceived(), operations(),
                operationBytes(), receivesExhausted, waits(), asleep());
    }

    @Override
    public String toString() {
        return "ConnectionCounters[messagesSent=" + messagesSent() + ", bytesSent=" + bytesSent()
                + ", messagesReceived=" + messagesReceived() + ", bytesReceived=" + bytesReceived() + ", operations="
                + operations() + ", operationBytes=" + operationBytes() + ", receivesExhausted=" + receivesExhausted
                + ", waits=" + waits() + ", asleep=" + asleep() + "]";
    }

    /** Counts. Used with the lock of the connection held. */
    static final class Recorder {
        private long messagesSent;
        private long bytesSent;
        private long messagesReceived;
        private long bytesReceived;
        private long operations;
        private long operationBytes;
        private long waits;
        private long nanosAsleep;

        void sent(long bytes) {
            messagesSent++;
            bytesSent += bytes;
        }

        void received(long bytes) {
            messagesReceived++;
            bytesReceived += bytes;
        }

        void operated(long bytes) {
            operations++;
            operationBytes += bytes;
        }

        void slept(long nanos) {
            waits++;
            nanosAsleep += nanos;
        }

        ConnectionCounters snapshot(long receivesExhausted) {
            Recorder copy = new Recorder();
            copy.add(this);
            return new ConnectionCounters(copy, receivesExhausted);
        }

        private void add(Recorder other) {
            messagesSent += other.messagesSent;
            bytesSent += other.bytesSent;
            messagesReceived += other.messagesReceived;
            bytesReceived += other.bytesReceived;
            operations += other.operations;
            operationBytes += other.operationBytes;
            waits += other.waits;
            nanosAsleep += other.nanosAsleep;
        }
    }
}
