// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.rdmacm.core.stream.StreamSettings;
import jdk.net.ExtendedSocketOptions;

/**
 * The options of a channel: the settings of its stream, which are fixed when there is a stream, and the few that are
 * only remembered. Thread-safe.
 */
final class ChannelOptions {
    /** What a channel that listens has; they are for the channels that it accepts. */
    static final Set<SocketOption<?>> OF_SERVERS = Set.of(StandardSocketOptions.SO_RCVBUF,
            StandardSocketOptions.SO_SNDBUF, StandardSocketOptions.SO_REUSEADDR, StandardSocketOptions.SO_KEEPALIVE,
            ExtendedSocketOptions.TCP_KEEPIDLE, ExtendedSocketOptions.TCP_KEEPINTERVAL,
            ExtendedSocketOptions.TCP_KEEPCOUNT, ExtendedSocketOptions.TCP_QUICKACK,
            RdmaSocketOptions.RDMA_SQSIZE, RdmaSocketOptions.RDMA_RQSIZE, RdmaSocketOptions.RDMA_INLINE,
            RdmaSocketOptions.RDMA_IOMAPSIZE, RdmaSocketOptions.RDMA_ROUTE, RdmaSocketOptions.KEEPALIVE_INTERVAL,
            RdmaSocketOptions.HANDSHAKE_TIMEOUT, RdmaSocketOptions.STREAM_SETTINGS);
    /** What a channel that connects has. */
    static final Set<SocketOption<?>> OF_SOCKETS = Stream.concat(OF_SERVERS.stream(),
                    Stream.of(StandardSocketOptions.TCP_NODELAY, StandardSocketOptions.SO_LINGER,
                            StandardSocketOptions.IP_TOS))
            .collect(Collectors.toUnmodifiableSet());

    // Those of TCP in Linux. Each is a hint without effect here: every write is sent, and every arrival acknowledged
    // at once, and the device decides how often it retransmits.
    private static final Map<String, Object> HINTS = Map.of("TCP_NODELAY", false, "TCP_QUICKACK", true,
            "TCP_KEEPINTERVAL", 75, "TCP_KEEPCOUNT", 9);
    private static final Duration KEEPALIVE_INTERVAL = Duration.ofHours(2);

    private final Set<SocketOption<?>> supported;
    // The fields below are guarded by this.
    private StreamSettings settings;
    private boolean fixed;
    private Duration keepAliveInterval;
    private final Map<String, Object> hints = new HashMap<>(HINTS);
    private int linger = -1;

    /** Options that begin with the settings; they are fixed if there is a stream already. */
    ChannelOptions(Set<SocketOption<?>> supported, StreamSettings settings, boolean fixed) {
        this.supported = supported;
        this.settings = settings;
        this.fixed = fixed;
        this.keepAliveInterval = settings.keepAlive().isZero() ? KEEPALIVE_INTERVAL : settings.keepAlive();
    }

    Set<SocketOption<?>> supported() {
        return supported;
    }

    /** Returns the settings for a stream, which cannot be changed from now on. */
    synchronized StreamSettings fix() {
        fixed = true;
        return settings;
    }

    /** Returns how often an idle stream checks that its peer can be reached; zero for never. */
    synchronized Duration keepAlive() {
        return settings.keepAlive();
    }

    /** Returns the time in seconds that a close may wait; negative if it does not wait. */
    synchronized int linger() {
        return linger;
    }

    synchronized <T> T get(SocketOption<T> option) {
        requireSupported(option);
        return option.type().cast(value(option));
    }

    private Object value(SocketOption<?> option) {
        return switch (option.name()) {
            case "SO_SNDBUF" -> settings.sendBufferSize();
            case "SO_RCVBUF" -> settings.receiveBufferSize();
            case "SO_REUSEADDR" -> settings.reuseAddress();
            case "SO_KEEPALIVE" -> !settings.keepAlive().isZero();
            case "SO_LINGER" -> linger;
            case "TCP_NODELAY", "TCP_QUICKACK", "TCP_KEEPINTERVAL", "TCP_KEEPCOUNT" ->
                    Objects.requireNonNull(hints.get(option.name()));
            case "TCP_KEEPIDLE" -> (int) Math.min(keepAliveInterval.toSeconds(), Integer.MAX_VALUE);
            case "IP_TOS" -> settings.typeOfService();
            case "RDMA_SQSIZE" -> settings.sendQueueSize();
            case "RDMA_RQSIZE" -> settings.receiveQueueSize();
            case "RDMA_INLINE" -> settings.inlineSize();
            case "RDMA_IOMAPSIZE" -> settings.mapSlots();
            case "RDMA_ROUTE" -> settings.route();
            case "KEEPALIVE_INTERVAL" -> keepAliveInterval;
            case "HANDSHAKE_TIMEOUT" -> settings.handshakeTimeout();
            default -> settings;
        };
    }

    synchronized <T> void set(SocketOption<T> option, T value) throws SocketException {
        requireSupported(option);
        if (value == null) {
            throw new IllegalArgumentException(option + " cannot be null");
        }
        option.type().cast(value);
        switch (option.name()) {
            case "TCP_NODELAY", "TCP_QUICKACK" -> hints.put(option.name(), value);
            case "TCP_KEEPINTERVAL", "TCP_KEEPCOUNT" -> hints.put(option.name(), positive(option, (Integer) value));
            case "SO_LINGER" -> setLinger((Integer) value);
            case "SO_KEEPALIVE", "TCP_KEEPIDLE", "KEEPALIVE_INTERVAL" -> settings = change(option, value).build();
            case "SO_SNDBUF", "SO_RCVBUF", "SO_REUSEADDR", "IP_TOS" -> {
                // These are hints, or have no effect on an address that is bound already.
                StreamSettings changed = change(option, value).build();
                settings = fixed ? settings : changed;
            }
            default -> {
                StreamSettings changed = change(option, value).build();
                if (fixed) {
                    throw new SocketException(option + " can be set only before the channel is bound or connected");
                }
                settings = changed;
            }
        }
    }

    private void setLinger(int seconds) {
        // As of TCP: at most 16 bits.
        linger = Math.clamp(seconds, -1, 0xFFFF);
        if (linger >= 0 && !fixed) {
            settings = settings.toBuilder().linger(Duration.ofSeconds(linger)).build();
        }
    }

    private StreamSettings.Builder change(SocketOption<?> option, Object value) {
        StreamSettings.Builder builder = settings.toBuilder();
        return switch (option.name()) {
            case "SO_SNDBUF" -> builder.sendBufferSize(bufferSize(option, (Integer) value));
            case "SO_RCVBUF" -> builder.receiveBufferSize(bufferSize(option, (Integer) value));
            case "SO_REUSEADDR" -> builder.reuseAddress((Boolean) value);
            case "SO_KEEPALIVE" -> builder.keepAlive((Boolean) value ? keepAliveInterval : Duration.ZERO);
            case "RDMA_SQSIZE" -> builder.sendQueueSize((Integer) value);
            case "RDMA_RQSIZE" -> builder.receiveQueueSize((Integer) value);
            case "RDMA_INLINE" -> builder.inlineSize((Integer) value);
            case "RDMA_IOMAPSIZE" -> builder.mapSlots((Integer) value);
            case "RDMA_ROUTE" -> builder.route((byte[]) value);
            case "HANDSHAKE_TIMEOUT" -> builder.handshakeTimeout((Duration) value);
            case "KEEPALIVE_INTERVAL" -> interval(builder, (Duration) value);
            case "TCP_KEEPIDLE" -> interval(builder, Duration.ofSeconds(positive(option, (Integer) value)));
            case "IP_TOS" -> builder.typeOfService((Integer) value);
            default -> ((StreamSettings) value).toBuilder();
        };
    }

    private StreamSettings.Builder interval(StreamSettings.Builder builder, Duration interval) {
        if (interval.isNegative() || interval.isZero()) {
            throw new IllegalArgumentException("KEEPALIVE_INTERVAL must be positive, not " + interval);
        }
        // Checks the rest.
        builder.keepAlive(interval).build();
        keepAliveInterval = interval;
        return settings.keepAlive().isZero() ? builder.keepAlive(Duration.ZERO) : builder;
    }

    private static Integer positive(SocketOption<?> option, Integer value) {
        if (value <= 0) {
            throw new IllegalArgumentException(option + " must be positive, not " + value);
        }
        return value;
    }

    /** A hint: what is too small or too large becomes what is possible. */
    private static int bufferSize(SocketOption<?> option, int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException(option + " is negative: " + bytes);
        }
        return Math.clamp(bytes, StreamSettings.MIN_BUFFER_SIZE, StreamSettings.MAX_BUFFER_SIZE);
    }

    private void requireSupported(SocketOption<?> option) {
        if (!supported.contains(option)) {
            throw new UnsupportedOperationException("channels over RDMA have no option " + option
                    + (option == StandardSocketOptions.SO_REUSEPORT ? ": a port has one listener" : ""));
        }
    }
}
