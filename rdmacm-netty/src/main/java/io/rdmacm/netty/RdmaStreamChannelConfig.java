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
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannelConfig;
import io.rdmacm.core.stream.StreamSettings;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of an {@link RdmaStreamChannel}. {@link RdmaChannelOption} says which options there are. Settings
 * of the stream are fixed when the channel is bound or connected: later, {@code SO_SNDBUF}, {@code SO_RCVBUF},
 * {@code SO_REUSEADDR} and {@code SO_KEEPALIVE} have no effect, and the others throw IllegalStateException.
 */
public final class RdmaStreamChannelConfig extends DefaultChannelConfig implements SocketChannelConfig {
    private final RdmaStreamChannel stream;
    private final StreamOptions options;
    private volatile boolean allowHalfClosure;
    private volatile boolean tcpNoDelay = true;

    RdmaStreamChannelConfig(RdmaStreamChannel channel, StreamSettings settings, boolean fixed) {
        super(channel);
        this.stream = channel;
        this.options = new StreamOptions(settings, fixed);
    }

    StreamOptions options() {
        return options;
    }

    private static Set<ChannelOption<?>> names() {
        Set<ChannelOption<?>> names = new HashSet<>(StreamOptions.ALL);
        names.add(ChannelOption.TCP_NODELAY);
        names.add(ChannelOption.ALLOW_HALF_CLOSURE);
        return names;
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), names().toArray(ChannelOption[]::new));
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> @Nullable T getOption(ChannelOption<T> option) {
        if (option == ChannelOption.TCP_NODELAY) {
            return (T) Boolean.valueOf(tcpNoDelay);
        }
        if (option == ChannelOption.ALLOW_HALF_CLOSURE) {
            return (T) Boolean.valueOf(allowHalfClosure);
        }
        return StreamOptions.ALL.contains(option) ? (T) options.get(option) : super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        if (option == ChannelOption.TCP_NODELAY || option == ChannelOption.ALLOW_HALF_CLOSURE) {
            validate(option, value);
            if (option == ChannelOption.TCP_NODELAY) {
                tcpNoDelay = (Boolean) value;
            } else {
                allowHalfClosure = (Boolean) value;
            }
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
        stream.clearReadPending();
    }

    @Override
    public boolean isAllowHalfClosure() {
        return allowHalfClosure;
    }

    @Override
    public RdmaStreamChannelConfig setAllowHalfClosure(boolean allowHalfClosure) {
        this.allowHalfClosure = allowHalfClosure;
        return this;
    }

    /** {@return what was set: every write is sent at once, so there is nothing to be delayed} */
    @Override
    public boolean isTcpNoDelay() {
        return tcpNoDelay;
    }

    /** Has no effect: every write is sent at once. */
    @Override
    public RdmaStreamChannelConfig setTcpNoDelay(boolean tcpNoDelay) {
        this.tcpNoDelay = tcpNoDelay;
        return this;
    }

    @Override
    public int getSoLinger() {
        return options.linger();
    }

    @Override
    public RdmaStreamChannelConfig setSoLinger(int soLinger) {
        options.set(ChannelOption.SO_LINGER, soLinger);
        return this;
    }

    @Override
    public int getSendBufferSize() {
        return Objects.requireNonNull(getOption(ChannelOption.SO_SNDBUF));
    }

    @Override
    public RdmaStreamChannelConfig setSendBufferSize(int sendBufferSize) {
        options.set(ChannelOption.SO_SNDBUF, sendBufferSize);
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return Objects.requireNonNull(getOption(ChannelOption.SO_RCVBUF));
    }

    @Override
    public RdmaStreamChannelConfig setReceiveBufferSize(int receiveBufferSize) {
        options.set(ChannelOption.SO_RCVBUF, receiveBufferSize);
        return this;
    }

    @Override
    public boolean isKeepAlive() {
        return Objects.requireNonNull(getOption(ChannelOption.SO_KEEPALIVE));
    }

    @Override
    public RdmaStreamChannelConfig setKeepAlive(boolean keepAlive) {
        options.set(ChannelOption.SO_KEEPALIVE, keepAlive);
        return this;
    }

    /** {@return 0: streams have no traffic class} */
    @Override
    public int getTrafficClass() {
        return 0;
    }

    /** Has no effect: streams have no traffic class. */
    @Override
    public RdmaStreamChannelConfig setTrafficClass(int trafficClass) {
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return Objects.requireNonNull(getOption(ChannelOption.SO_REUSEADDR));
    }

    @Override
    public RdmaStreamChannelConfig setReuseAddress(boolean reuseAddress) {
        options.set(ChannelOption.SO_REUSEADDR, reuseAddress);
        return this;
    }

    /** Has no effect. */
    @Override
    public RdmaStreamChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setAutoClose(boolean autoClose) {
        super.setAutoClose(autoClose);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark writeBufferWaterMark) {
        super.setWriteBufferWaterMark(writeBufferWaterMark);
        return this;
    }

    @Override
    @Deprecated
    public RdmaStreamChannelConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }
}
