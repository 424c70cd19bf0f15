// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;
import io.rdmacm.core.stream.StreamSettings;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of an {@link RdmaServerStreamChannel}. {@link RdmaChannelOption} says which options there are. They
 * are also those of the channels that are accepted, and fixed when the channel is bound.
 */
public final class RdmaServerStreamChannelConfig extends DefaultChannelConfig implements ServerSocketChannelConfig {
    private final RdmaServerStreamChannel server;
    private final StreamOptions options = new StreamOptions(StreamSettings.defaults(), false);
    private volatile int backlog = NetUtil.SOMAXCONN;

    RdmaServerStreamChannelConfig(RdmaServerStreamChannel channel) {
        super(channel, new ServerChannelRecvByteBufAllocator());
        this.server = channel;
    }

    StreamOptions options() {
        return options;
    }

    private static Set<ChannelOption<?>> names() {
        Set<ChannelOption<?>> names = new HashSet<>(StreamOptions.ALL);
        names.add(ChannelOption.SO_BACKLOG);
        return names;
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), names().toArray(ChannelOption[]::new));
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> @Nullable T getOption(ChannelOption<T> option) {
        if (option == ChannelOption.SO_BACKLOG) {
            return (T) Integer.valueOf(backlog);
        }
        return StreamOptions.ALL.contains(option) ? (T) options.get(option) : super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        if (option == ChannelOption.SO_BACKLOG) {
            validate(option, value);
            setBacklog((Integer) value);
            return true;
        }
        if (StreamOptions.ALL.contains(option)) {
            validate(option, value);
            options.set(option, value);
            return true;
        }
        return super.setOption(option, value);
    }

    @Override
    protected void autoReadCleared() {
        server.clearReadPending();
    }

    /** {@return how many streams can wait to be accepted} */
    @Override
    public int getBacklog() {
        return backlog;
    }

    /**
     * Sets how many streams can wait to be accepted. Has no effect once the channel is bound.
     *
     * @param backlog as for TCP, 0 is taken for 1
     */
    @Override
    public RdmaServerStreamChannelConfig setBacklog(int backlog) {
        if (backlog < 0) {
            throw new IllegalArgumentException("SO_BACKLOG is negative: " + backlog);
        }
        this.backlog = backlog;
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return Objects.requireNonNull(getOption(ChannelOption.SO_RCVBUF));
    }

    @Override
    public RdmaServerStreamChannelConfig setReceiveBufferSize(int receiveBufferSize) {
        options.set(ChannelOption.SO_RCVBUF, receiveBufferSize);
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return Objects.requireNonNull(getOption(ChannelOption.SO_REUSEADDR));
    }

    @Override
    public RdmaServerStreamChannelConfig setReuseAddress(boolean reuseAddress) {
        options.set(ChannelOption.SO_REUSEADDR, reuseAddress);
        return this;
    }

    /** Has no effect. */
    @Override
    public RdmaServerStreamChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    public RdmaServerStreamChannelConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    public RdmaServerStreamChannelConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public RdmaServerStreamChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public RdmaServerStreamChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    @Override
    public RdmaServerStreamChannelConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public RdmaServerStreamChannelConfig setAutoClose(boolean autoClose) {
        super.setAutoClose(autoClose);
        return this;
    }

    @Override
    public RdmaServerStreamChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }

    @Override
    public RdmaServerStreamChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark writeBufferWaterMark) {
        super.setWriteBufferWaterMark(writeBufferWaterMark);
        return this;
    }

    @Override
    @Deprecated
    public RdmaServerStreamChannelConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }

    @Override
    public RdmaServerStreamChannelConfig setWriteBufferHighWaterMark(int bytes) {
        super.setWriteBufferHighWaterMark(bytes);
        return this;
    }

    @Override
    public RdmaServerStreamChannelConfig setWriteBufferLowWaterMark(int bytes) {
        super.setWriteBufferLowWaterMark(bytes);
        return this;
    }
}
