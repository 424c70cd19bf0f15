// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.time.Duration;

/**
 * What a connection has done so far.
 *
 * @param messagesSent the messages that were handed to the device
 * @param bytesSent their bytes
 * @param messagesReceived the messages and remote writes with immediate values that have arrived
 * @param bytesReceived their bytes
 * @param operations the reads, writes and atomic operations that were handed to the device
 * @param operationBytes their bytes
 * @param receivesExhausted how often the last posted receive was used; if a message arrives then, the peer's device has
 *        to send it again (RNR). The retries themselves are counted by the device only, for each port
 * @param waits how often a thread slept because nothing had happened for the time that
 *        {@link ConnectionSettings#waiting()} allows for polling
 * @param asleep how long threads have slept in total
 */
public record ConnectionCounters(long messagesSent, long bytesSent, long messagesReceived, long bytesReceived,
        long operations, long operationBytes, long receivesExhausted, long waits, Duration asleep) {
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
            return new ConnectionCounters(messagesSent, bytesSent, messagesReceived, bytesReceived, operations,
                    operationBytes, receivesExhausted, waits, Duration.ofNanos(nanosAsleep));
        }
    }
}
