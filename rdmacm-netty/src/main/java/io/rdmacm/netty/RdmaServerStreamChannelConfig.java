// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import io.netty.channel.ChannelOption;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;
import io.rdmacm.core.stream.StreamSettings;

/**
 * The configuration of an {@link RdmaServerStreamChannel}. {@link RdmaChannelOption} says which options there are. They
 * are also those of the channels that are accepted, and fixed when the channel is bound, except for keep-alive.
 */
public final class RdmaServerStreamChannelConfig extends StreamChannelConfig<RdmaServerStreamChannelConfig>
        implements ServerSocketChannelConfig {
    private volatile int backlog = NetUtil.SOMAXCONN;

    RdmaServerStreamChannelConfig(RdmaServerStreamChannel channel) {
        super(channel, new ServerChannelRecvByteBufAllocator(), new StreamOptions(StreamSettings.defaults(), false),
                ChannelOption.SO_BACKLOG);
    }

    @Override
    Object getOwn(ChannelOption<?> option) {
        return backlog;
    }

    @Override
    void setOwn(ChannelOption<?> option, Object value) {
        setBacklog((Integer) value);
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
}
