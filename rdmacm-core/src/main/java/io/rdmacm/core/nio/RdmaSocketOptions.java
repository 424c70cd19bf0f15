// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import io.rdmacm.core.stream.StreamSettings;

/**
 * The options of channels over RDMA that sockets of the JDK do not have: the {@link StreamSettings}. They can be set
 * until the channel is bound or connected. Options of a {@link ServerSocketChannel} apply to the channels that it
 * accepts.
 */
public final class RdmaSocketOptions {
    /** {@link StreamSettings#sendQueueSize()}. */
    public static final SocketOption<Integer> RDMA_SQSIZE = new Option<>("RDMA_SQSIZE", Integer.class);
    /** {@link StreamSettings#receiveQueueSize()}. */
    public static final SocketOption<Integer> RDMA_RQSIZE = new Option<>("RDMA_RQSIZE", Integer.class);
    /** {@link StreamSettings#inlineSize()}. */
    public static final SocketOption<Integer> RDMA_INLINE = new Option<>("RDMA_INLINE", Integer.class);
    /** {@link StreamSettings#mapSlots()}. */
    public static final SocketOption<Integer> RDMA_IOMAPSIZE = new Option<>("RDMA_IOMAPSIZE", Integer.class);
    /** {@link StreamSettings#route()}. */
    public static final SocketOption<byte[]> RDMA_ROUTE = new Option<>("RDMA_ROUTE", byte[].class);
    /**
     * How often an idle channel with {@link StandardSocketOptions#SO_KEEPALIVE} checks that its peer can be reached
     * ({@code TCP_KEEPIDLE}); the default is two hours. See {@link StreamSettings#keepAlive()}.
     */
    public static final SocketOption<Duration> KEEPALIVE_INTERVAL =
            new Option<>("KEEPALIVE_INTERVAL", Duration.class);
    /** {@link StreamSettings#handshakeTimeout()}. */
    public static final SocketOption<Duration> HANDSHAKE_TIMEOUT = new Option<>("HANDSHAKE_TIMEOUT", Duration.class);
    /**
     * All settings at once. A {@link SocketChannel} that is bound or connected has those in effect.
     */
    public static final SocketOption<StreamSettings> STREAM_SETTINGS =
            new Option<>("STREAM_SETTINGS", StreamSettings.class);

    private RdmaSocketOptions() {
    }

    private record Option<T>(String name, Class<T> type) implements SocketOption<T> {
        @Override
        public String toString() {
            return name;
        }
    }
}
