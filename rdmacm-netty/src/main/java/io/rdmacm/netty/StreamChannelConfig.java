// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import org.jspecify.annotations.Nullable;

/** What the configurations of both kinds of channels have in common; {@code C} is the one that it is. */
abstract class StreamChannelConfig<C extends ChannelConfig> extends DefaultChannelConfig {
    private final AbstractRdmaChannel stream;
    private final StreamOptions options;
    // those of this kind of channel alone
    private final Collection<ChannelOption<?>> own;

    StreamChannelConfig(AbstractRdmaChannel channel, RecvByteBufAllocator allocator, StreamOptions options,
            ChannelOption<?>... own) {
        super(channel, allocator);
        this.stream = channel;
        this.options = options;
        this.own = Set.copyOf(Arrays.asList(own));
    }

    @SuppressWarnings("unchecked")
    private C self() {
        return (C) this;
    }

    final StreamOptions options() {
        return options;
    }

    /** Returns the value of an option of this kind of channel alone. */
    abstract Object getOwn(ChannelOption<?> option);

    /** Sets an option of this kind of channel alone, whose value is valid for it. */
    abstract void setOwn(ChannelOption<?> option, Object value);

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        Set<ChannelOption<?>> names = new HashSet<>(StreamOptions.ALL);
        names.addAll(own);
        return getOptions(super.getOptions(), names.toArray(ChannelOption[]::new));
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> @Nullable T getOption(ChannelOption<T> option) {
        if (own.contains(option)) {
            return (T) getOwn(option);
        }
        return StreamOptions.ALL.contains(option) ? (T) options.get(option) : super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        boolean isOwn = own.contains(option);
        if (!isOwn && !StreamOptions.ALL.contains(option)) {
            return super.setOption(option, value);
        }
        validate(option, value);
        if (isOwn) {
            setOwn(option, value);
        } else {
            options.set(option, value);
            stream.optionsChanged();
        }
        return true;
    }

    @Override
    protected final void autoReadCleared() {
        stream.clearReadPending();
    }

    public int getReceiveBufferSize() {
        return Objects.requireNonNull(getOption(ChannelOption.SO_RCVBUF));
    }

    public C setReceiveBufferSize(int receiveBufferSize) {
        options.set(ChannelOption.SO_RCVBUF, receiveBufferSize);
        return self();
    }

    public boolean isReuseAddress() {
        return Objects.requireNonNull(getOption(ChannelOption.SO_REUSEADDR));
    }

    public C setReuseAddress(boolean reuseAddress) {
        options.set(ChannelOption.SO_REUSEADDR, reuseAddress);
        return self();
    }

    /** Has no effect. */
    public C setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return self();
    }

    @Override
    public C setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return self();
    }

    @Override
    public C setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return self();
    }

    @Override
    public C setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return self();
    }

    @Override
    public C setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return self();
    }

    @Override
    public C setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return self();
    }

    @Override
    public C setAutoClose(boolean autoClose) {
        super.setAutoClose(autoClose);
        return self();
    }

    @Override
    public C setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return self();
    }

    @Override
    public C setWriteBufferWaterMark(WriteBufferWaterMark writeBufferWaterMark) {
        super.setWriteBufferWaterMark(writeBufferWaterMark);
        return self();
    }

    @Override
    public C setWriteBufferHighWaterMark(int bytes) {
        super.setWriteBufferHighWaterMark(bytes);
        return self();
    }

    @Override
    public C setWriteBufferLowWaterMark(int bytes) {
        super.setWriteBufferLowWaterMark(bytes);
        return self();
    }

    @Override
    @Deprecated
    public C setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return self();
    }
}
