// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.sockets;

import java.time.Duration;

import io.rdmacm.core.stream.StreamSettings;

/**
 * The settings of the stream of a channel, or of the streams that it accepts, as the options of sockets change them.
 * They are fixed when there is a stream. The fields are guarded by this.
 */
public abstract class SocketSettings {
    // That of TCP in Linux.
    private static final Duration KEEP_ALIVE_INTERVAL = Duration.ofHours(2);
    // As of TCP: at most 16 bits.
    private static final int LONGEST_LINGER = 0xFFFF;

    /** The settings. */
    protected StreamSettings settings;
    /** Whether there is a stream. */
    protected boolean fixed;
    /** The interval of keep-alive, also while that is off. */
    protected Duration keepAliveInterval;
    /** The time in seconds that a close may wait; negative if it does not wait. */
    protected int linger = -1;

    /** Begins with some settings, which are fixed if there is a stream already. */
    protected SocketSettings(StreamSettings settings, boolean fixed) {
        this.settings = settings;
        this.fixed = fixed;
        this.keepAliveInterval = settings.keepAlive().isZero() ? KEEP_ALIVE_INTERVAL : settings.keepAlive();
    }

    /** Returns the settings for a stream, which cannot be changed from now on. */
    public final synchronized StreamSettings fix() {
        fixed = true;
        return settings;
    }

    /** Returns the time in seconds that a close may wait; negative if it does not wait. */
    public final synchronized int linger() {
        return linger;
    }

    /** Returns how often an idle stream checks that its peer can be reached; zero for never. It is never fixed. */
    public final synchronized Duration keepAlive() {
        return settings.keepAlive();
    }

    /** Sets how long a close may wait. */
    protected final void setLinger(int seconds) {
        linger = Math.clamp(seconds, -1, LONGEST_LINGER);
        if (linger >= 0 && !fixed) {
            settings = settings.toBuilder().linger(Duration.ofSeconds(linger)).build();
        }
    }

    /** Returns the settings with or without keep-alive. */
    protected final StreamSettings.Builder keepAlive(boolean on) {
        return settings.toBuilder().keepAlive(on ? keepAliveInterval : Duration.ZERO);
    }

    /** Returns the settings with another interval, which is checked even if keep-alive is off. */
    protected final StreamSettings.Builder keepAliveEvery(Object option, Duration interval) {
        if (interval.isNegative() || interval.isZero()) {
            throw new IllegalArgumentException(option + " must be positive, not " + interval);
        }
        StreamSettings checked = settings.toBuilder().keepAlive(interval).build();
        return (settings.keepAlive().isZero() ? settings : checked).toBuilder();
    }

    /** Returns the size for a buffer. It is a hint: what is too small or too large becomes what is possible. */
    protected static int bufferSize(Object option, int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException(option + " is negative: " + bytes);
        }
        return Math.clamp(bytes, StreamSettings.MIN_BUFFER_SIZE, StreamSettings.MAX_BUFFER_SIZE);
    }
}
