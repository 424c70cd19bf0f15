// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.util.Objects;

/**
 * The settings of a {@link ConnectionLoopGroup}. Immutable.
 *
 * @param threads how many threads there are for each device, each with its own loop; ignored for a loop that the
 *        program drives
 * @param sharedReceives how many receives are posted to a receive queue that the connections of a loop share; 0 to give
 *        each connection {@link ConnectionSettings#receiveBuffers()} of its own
 * @param messageSize the largest message in bytes that fits into a shared receive buffer; ignored without shared
 *        receives
 * @param waiting how the threads wait; ignored for a loop that the program drives
 */
public record LoopSettings(int threads, int sharedReceives, int messageSize, WaitPolicy waiting) {
    /**
     * Checks the settings.
     *
     * @throws IllegalArgumentException when a number is out of its range
     */
    public LoopSettings {
        Objects.requireNonNull(waiting, "waiting");
        if (threads < 1) {
            throw new IllegalArgumentException("threads must be at least 1, not " + threads);
        }
        if (sharedReceives < 0) {
            throw new IllegalArgumentException("sharedReceives must not be negative: " + sharedReceives);
        }
        if (messageSize < 1) {
            throw new IllegalArgumentException("messageSize must be at least 1, not " + messageSize);
        }
    }

    /**
     * Returns the default settings.
     *
     * @return settings with one thread, without shared receives, for messages of up to 4096 bytes, with the default
     *         wait policy
     */
    public static LoopSettings defaults() {
        return new LoopSettings(1, 0, 4096, WaitPolicy.defaults());
    }

    /**
     * Returns these settings with another number of threads.
     *
     * @param count at least 1
     * @return the settings
     * @throws IllegalArgumentException when the number is less than 1
     */
    public LoopSettings withThreads(int count) {
        return new LoopSettings(count, sharedReceives, messageSize, waiting);
    }

    /**
     * Returns these settings with a shared receive queue for each loop, so that the memory for received messages
     * follows the traffic and not the number of connections.
     *
     * @param receives how many receives to keep posted, or 0 for no shared queue. When messages occupy half of the
     *        buffers, more are added, up to 16 times as many; from then on the peers of the loop have to wait until
     *        messages are closed.
     * @param bytes the largest message in bytes
     * @return the settings
     * @throws IllegalArgumentException when a number is out of its range
     */
    public LoopSettings withSharedReceives(int receives, int bytes) {
        return new LoopSettings(threads, receives, bytes, waiting);
    }

    /**
     * Returns these settings with another way to wait.
     *
     * @param policy how the threads of the loops wait
     * @return the settings
     */
    public LoopSettings withWaiting(WaitPolicy policy) {
        return new LoopSettings(threads, sharedReceives, messageSize, policy);
    }
}
