// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.netty.channel.ChannelOption;
import io.rdmacm.core.internal.sockets.SocketSettings;
import io.rdmacm.core.stream.StreamSettings;
import org.jspecify.annotations.Nullable;

/**
 * The options of a channel that concern its stream, or the streams that it accepts: their settings, which are fixed
 * when there is a stream, and a few that can be changed at any time. Thread-safe.
 */
final class StreamOptions extends SocketSettings {
    /** The options that are settings of the stream and nothing else. */
    private static final Map<ChannelOption<?>, Setting<?>> SETTINGS = Map.ofEntries(
            setting(ChannelOption.SO_SNDBUF, StreamSettings::sendBufferSize,
                    (builder, bytes) -> builder.sendBufferSize(bufferSize(ChannelOption.SO_SNDBUF, bytes))),
            setting(ChannelOption.SO_RCVBUF, StreamSettings::receiveBufferSize,
                    (builder, bytes) -> builder.receiveBufferSize(bufferSize(ChannelOption.SO_RCVBUF, bytes))),
            setting(ChannelOption.SO_REUSEADDR, StreamSettings::reuseAddress, StreamSettings.Builder::reuseAddress),
            setting(RdmaChannelOption.SEND_QUEUE_SIZE, StreamSettings::sendQueueSize,
                    StreamSettings.Builder::sendQueueSize),
            setting(RdmaChannelOption.RECEIVE_QUEUE_SIZE, StreamSettings::receiveQueueSize,
                    StreamSettings.Builder::receiveQueueSize),
            setting(RdmaChannelOption.INLINE_SIZE, StreamSettings::inlineSize, StreamSettings.Builder::inlineSize),
            setting(RdmaChannelOption.MAP_SLOTS, StreamSettings::mapSlots, StreamSettings.Builder::mapSlots),
            setting(RdmaChannelOption.ROUTE, StreamSettings::route, StreamSettings.Builder::route),
            setting(RdmaChannelOption.RETRIES, StreamSettings::retries, StreamSettings.Builder::retries),
            setting(RdmaChannelOption.ACK_TIMEOUT, settings -> settings.ackTimeout().orElse(null),
                    StreamSettings.Builder::ackTimeout),
            setting(RdmaChannelOption.HANDSHAKE_TIMEOUT, StreamSettings::handshakeTimeout,
                    StreamSettings.Builder::handshakeTimeout));
    /** The options that all channels over RDMA have. */
    static final Set<ChannelOption<?>> ALL = Stream.concat(SETTINGS.keySet().stream(), Stream.of(
            ChannelOption.SO_KEEPALIVE, ChannelOption.SO_LINGER, RdmaChannelOption.KEEP_ALIVE_INTERVAL,
            RdmaChannelOption.STREAM_SETTINGS, RdmaChannelOption.SPIN, RdmaChannelOption.LEND_THRESHOLD))
            .collect(Collectors.toUnmodifiableSet());

    // read with each event and each write
    private volatile long spinNanos;
    private volatile int lendThreshold = 4096;

    /** How an option is read from the settings, and how it changes them. */
    private record Setting<T>(Function<StreamSettings, @Nullable T> reader, BiConsumer<StreamSettings.Builder,
            T> writer) {
        @SuppressWarnings("unchecked")
        void write(StreamSettings.Builder builder, Object value) {
            writer.accept(builder, (T) value);
        }
    }

    private static <T> Map.Entry<ChannelOption<?>, Setting<?>> setting(ChannelOption<T> option,
            Function<StreamSettings, @Nullable T> reader, BiConsumer<StreamSettings.Builder, T> writer) {
        return Map.entry(option, new Setting<>(reader, writer));
    }

    /** Options that begin with the settings; they are fixed if there is a stream already. */
    StreamOptions(StreamSettings settings, boolean fixed) {
        super(settings, fixed);
    }

    /** Takes over those that are not settings from the channel that accepted. */
    void inherit(StreamOptions parent) {
        spinNanos = parent.spinNanos;
        lendThreshold = parent.lendThreshold;
        synchronized (this) {
            linger = parent.linger();
            settings = settings.toBuilder().keepAlive(parent.keepAlive()).build();
            keepAliveInterval = Objects.requireNonNull(
                    (Duration) parent.get(RdmaChannelOption.KEEP_ALIVE_INTERVAL));
        }
    }

    long spinNanos() {
        return spinNanos;
    }

    int lendThreshold() {
        return lendThreshold;
    }

    /** Returns the value of one of {@link #ALL}. */
    synchronized @Nullable Object get(ChannelOption<?> option) {
        Setting<?> setting = SETTINGS.get(option);
        if (setting != null) {
            return setting.reader().apply(settings);
        }
        if (option == ChannelOption.SO_KEEPALIVE) {
            return !settings.keepAlive().isZero();
        }
        if (option == ChannelOption.SO_LINGER) {
            return linger;
        }
        if (option == RdmaChannelOption.KEEP_ALIVE_INTERVAL) {
            return keepAliveInterval;
        }
        if (option == RdmaChannelOption.SPIN) {
            return Duration.ofNanos(spinNanos);
        }
        return option == RdmaChannelOption.LEND_THRESHOLD ? (Object) lendThreshold : settings;
    }

    /** Sets one of {@link #ALL}, whose value is valid for the option. */
    synchronized void set(ChannelOption<?> option, Object value) {
        if (option == ChannelOption.SO_LINGER) {
            setLinger((Integer) value);
        } else if (option == RdmaChannelOption.SPIN) {
            spinNanos = TimeUnit.NANOSECONDS.convert(notNegative((Duration) value));
        } else if (option == RdmaChannelOption.LEND_THRESHOLD) {
            lendThreshold = (Integer) value;
        } else {
            StreamSettings changed = change(option, value).build();
            if (option == RdmaChannelOption.KEEP_ALIVE_INTERVAL) {
                settings = changed;
                keepAliveInterval = (Duration) value;
            } else if (!fixed || option == ChannelOption.SO_KEEPALIVE) {
                settings = changed;
            } else if (!isHint(option) && !changed.equals(settings)) {
                throw new IllegalStateException(option + " can be set only before the channel is bound or connected;"
                        + " for the channels that a server accepts, with ServerBootstrap.option");
            }
        }
    }

    /**
     * Whether it does not matter if the option comes too late: the first two are hints, the third has no effect on an
     * address that is bound already.
     */
    private static boolean isHint(ChannelOption<?> option) {
        return option == ChannelOption.SO_SNDBUF || option == ChannelOption.SO_RCVBUF
                || option == ChannelOption.SO_REUSEADDR;
    }

    private StreamSettings.Builder change(ChannelOption<?> option, Object value) {
        if (option == RdmaChannelOption.STREAM_SETTINGS) {
            return ((StreamSettings) value).toBuilder();
        }
        if (option == ChannelOption.SO_KEEPALIVE) {
            return keepAlive((Boolean) value);
        }
        if (option == RdmaChannelOption.KEEP_ALIVE_INTERVAL) {
            return keepAliveEvery(option, (Duration) value);
        }
        StreamSettings.Builder builder = settings.toBuilder();
        Objects.requireNonNull(SETTINGS.get(option)).write(builder, value);
        return builder;
    }

    private static Duration notNegative(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("negative duration: " + time);
        }
        return time;
    }
}
