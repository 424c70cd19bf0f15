// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.util.List;
import java.util.Objects;

/** The settings of a {@link ConnectionLoopGroup}. Immutable. */
public final class LoopSettings {
    private final int threads;
    private final int sharedReceives;
    private final int messageSize;
    private final WaitPolicy waiting;

    private LoopSettings(Builder builder) {
        threads = builder.threads;
        sharedReceives = builder.sharedReceives;
        messageSize = builder.messageSize;
        waiting = Objects.requireNonNull(builder.waiting, "waiting");
    }

    /**
     * Returns the default settings.
     *
     * @return settings with one thread, without shared receives, for messages of up to 4096 bytes, with the default
     *         wait policy
     */
    public static LoopSettings defaults() {
        return builder().build();
    }

    /** {@return a builder that starts with the values of {@link #defaults()}} */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return a builder that starts with the values of these settings} */
    public Builder toBuilder() {
        return new Builder().threads(threads).sharedReceives(sharedReceives, messageSize).waiting(waiting);
    }

    /**
     * {@return how many threads there are for each device, each with its own loop; ignored for a loop that the program
     * drives}
     */
    public int threads() {
        return threads;
    }

    /**
     * {@return how many receives are posted to a receive queue that the connections of a loop share; 0 if each
     * connection has {@link ConnectionSettings#receiveBuffers()} of its own}
     */
    public int sharedReceives() {
        return sharedReceives;
    }

    /** {@return the largest message in bytes that fits into a shared receive buffer, if there are shared receives} */
    public int messageSize() {
        return messageSize;
    }

    /** {@return how the threads wait; ignored for a loop that the program drives} */
    public WaitPolicy waiting() {
        return waiting;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LoopSettings that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<Object> values() {
        return List.of(threads, sharedReceives, messageSize, waiting);
    }

    @Override
    public String toString() {
        return "LoopSettings[threads=" + threads + ", sharedReceives=" + sharedReceives + ", messageSize="
                + messageSize + ", waiting=" + waiting + "]";
    }

    /** Builds {@link LoopSettings}. */
    public static final class Builder {
        private int threads = 1;
        private int sharedReceives;
        private int messageSize = 4096;
        private WaitPolicy waiting = WaitPolicy.defaults();

        private Builder() {
        }

        /**
         * Sets how many threads there are for each device, each with its own loop.
         *
         * @param count at least 1, which is the default
         * @return this builder
         */
        public Builder threads(int count) {
            threads = count;
            return this;
        }

        /**
         * Sets a shared receive queue for each loop, so that the memory for received messages follows the traffic and
         * not the number of connections.
         *
         * @param receives how many receives to keep posted, or 0, which is the default, for no shared queue. When
         *        messages occupy half of the buffers, more are added, up to 16 times as many; from then on the peers of
         *        the loop have to wait until messages are closed.
         * @param bytes the largest message in bytes
         * @return this builder
         */
        public Builder sharedReceives(int receives, int bytes) {
            sharedReceives = receives;
            messageSize = bytes;
            return this;
        }

        /**
         * Sets how the threads of the loops wait.
         *
         * @param policy the default is {@link WaitPolicy#defaults()}
         * @return this builder
         */
        public Builder waiting(WaitPolicy policy) {
            waiting = policy;
            return this;
        }

        /**
         * Returns the settings.
         *
         * @return the settings
         * @throws IllegalArgumentException when a number is out of its range
         */
        public LoopSettings build() {
            if (threads < 1) {
                throw new IllegalArgumentException("threads must be at least 1, not " + threads);
            }
            if (sharedReceives < 0) {
                throw new IllegalArgumentException("sharedReceives must not be negative: " + sharedReceives);
            }
            if (messageSize < 1) {
                throw new IllegalArgumentException("messageSize must be at least 1, not " + messageSize);
            }
            return new LoopSettings(this);
        }
    }
}
