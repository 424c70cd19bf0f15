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

import io.rdmacm.core.internal.sockets.SocketSettings;
import io.rdmacm.core.stream.StreamSettings;
import jdk.net.ExtendedSocketOptions;

/**
 * The options of a channel: the settings of its stream, which are fixed when there is a stream, and the few that are
 * only remembered. Thread-safe.
 */
final class ChannelOptions extends SocketSettings {
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

    private final Set<SocketOption<?>> supported;
    // guarded by this
    private final Map<String, Object> hints = new HashMap<>(HINTS);

    /** Options that begin with the settings; they are fixed if there is a stream already. */
    ChannelOptions(Set<SocketOption<?>> supported, StreamSettings settings, boolean fixed) {
        super(settings, fixed);
        this.supported = supported;
    }

    Set<SocketOption<?>> supported() {
        return supported;
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
            case "SO_KEEPALIVE" -> settings = change(option, value).build();
            case "TCP_KEEPIDLE", "KEEPALIVE_INTERVAL" -> {
                settings = change(option, value).build();
                keepAliveInterval = interval(option, value);
            }
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

    private StreamSettings.Builder change(SocketOption<?> option, Object value) {
        StreamSettings.Builder builder = settings.toBuilder();
        return switch (option.name()) {
            case "SO_SNDBUF" -> builder.sendBufferSize(bufferSize(option, (Integer) value));
            case "SO_RCVBUF" -> builder.receiveBufferSize(bufferSize(option, (Integer) value));
            case "SO_REUSEADDR" -> builder.reuseAddress((Boolean) value);
            case "SO_KEEPALIVE" -> keepAlive((Boolean) value);
            case "RDMA_SQSIZE" -> builder.sendQueueSize((Integer) value);
            case "RDMA_RQSIZE" -> builder.receiveQueueSize((Integer) value);
            case "RDMA_INLINE" -> builder.inlineSize((Integer) value);
            case "RDMA_IOMAPSIZE" -> builder.mapSlots((Integer) value);
            case "RDMA_ROUTE" -> builder.route((byte[]) value);
            case "HANDSHAKE_TIMEOUT" -> builder.handshakeTimeout((Duration) value);
            case "KEEPALIVE_INTERVAL", "TCP_KEEPIDLE" -> keepAliveEvery(option, interval(option, value));
            case "IP_TOS" -> builder.typeOfService((Integer) value);
            default -> ((StreamSettings) value).toBuilder();
        };
    }

    private static Duration interval(SocketOption<?> option, Object value) {
        return value instanceof Integer seconds ? Duration.ofSeconds(positive(option, seconds)) : (Duration) value;
    }

    private static Integer positive(SocketOption<?> option, Integer value) {
        if (value <= 0) {
            throw new IllegalArgumentException(option + " must be positive, not " + value);
        }
        return value;
    }

    private void requireSupported(SocketOption<?> option) {
        if (!supported.contains(option)) {
            throw new UnsupportedOperationException("channels over RDMA have no option " + option
                    + (option == StandardSocketOptions.SO_REUSEPORT ? ": a port has one listener" : ""));
        }
    }
}
