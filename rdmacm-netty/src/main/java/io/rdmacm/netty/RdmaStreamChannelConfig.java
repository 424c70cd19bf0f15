// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.util.Objects;

import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannelConfig;
import io.rdmacm.core.stream.StreamSettings;

/**
 * The configuration of an {@link RdmaStreamChannel}. {@link RdmaChannelOption} says which options there are. Settings
 * of the stream are fixed when the channel is bound or connected: later, {@code SO_SNDBUF}, {@code SO_RCVBUF},
 * {@code IP_TOS} and {@code SO_REUSEADDR} have no effect, and the others throw IllegalStateException. Keep-alive can be
 * switched on and off at any time.
 */
public final class RdmaStreamChannelConfig extends StreamChannelConfig<RdmaStreamChannelConfig>
        implements SocketChannelConfig {
    private volatile boolean allowHalfClosure;
    private volatile boolean tcpNoDelay = true;

    RdmaStreamChannelConfig(RdmaStreamChannel channel, StreamSettings settings, boolean fixed) {
        super(channel, new AdaptiveRecvByteBufAllocator(), new StreamOptions(settings, fixed),
                ChannelOption.TCP_NODELAY, ChannelOption.ALLOW_HALF_CLOSURE);
    }

    @Override
    Object getOwn(ChannelOption<?> option) {
        return option == ChannelOption.TCP_NODELAY ? tcpNoDelay : allowHalfClosure;
    }

    @Override
    void setOwn(ChannelOption<?> option, Object value) {
        if (option == ChannelOption.TCP_NODELAY) {
            tcpNoDelay = (Boolean) value;
        } else {
            allowHalfClosure = (Boolean) value;
        }
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
        return options().linger();
    }

    @Override
    public RdmaStreamChannelConfig setSoLinger(int soLinger) {
        options().set(ChannelOption.SO_LINGER, soLinger);
        return this;
    }

    @Override
    public int getSendBufferSize() {
        return Objects.requireNonNull(getOption(ChannelOption.SO_SNDBUF));
    }

    @Override
    public RdmaStreamChannelConfig setSendBufferSize(int sendBufferSize) {
        options().set(ChannelOption.SO_SNDBUF, sendBufferSize);
        return this;
    }

    @Override
    public boolean isKeepAlive() {
        return Objects.requireNonNull(getOption(ChannelOption.SO_KEEPALIVE));
    }

    @Override
    public RdmaStreamChannelConfig setKeepAlive(boolean keepAlive) {
        boolean ignored = setOption(ChannelOption.SO_KEEPALIVE, keepAlive);
        return this;
    }

    @Override
    public int getTrafficClass() {
        return Objects.requireNonNull(getOption(ChannelOption.IP_TOS));
    }

    @Override
    public RdmaStreamChannelConfig setTrafficClass(int trafficClass) {
        boolean ignored = setOption(ChannelOption.IP_TOS, trafficClass);
        return this;
    }
}
