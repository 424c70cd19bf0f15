// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

import io.rdmacm.core.internal.nio.RdmaSelector;
import org.jspecify.annotations.Nullable;

/**
 * Channels that are over RDMA where that is possible, and those of the JDK otherwise; and selectors that take both,
 * datagram channels and pipes. Set by the agent, or by
 * {@code -Djava.nio.channels.spi.SelectorProvider=io.rdmacm.sockets.SocketsProvider} with
 * {@code --add-exports java.base/sun.nio.ch=ALL-UNNAMED}.
 */
public final class SocketsProvider extends SelectorProvider {
    // Null if RDMA is of no use here.
    private final @Nullable Shared shared;
    private final SelectorProvider jdk;

    /** Called by the JDK. */
    public SocketsProvider() {
        this(Installation.get());
    }

    SocketsProvider(Installation installation) {
        this.jdk = Installation.jdkProvider();
        this.shared = installation.share(this, jdk);
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        return shared == null ? jdk.openSelector()
                : new RdmaSelector(this, shared.rdma().settings().waiting().spin(), JdkChannel::of);
    }

    @Override
    public SocketChannel openSocketChannel() throws IOException {
        return shared == null ? jdk.openSocketChannel() : new MixedSocketChannel(shared, (ProtocolFamily) null);
    }

    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        return shared == null || !isInternet(family) ? jdk.openSocketChannel(family)
                : new MixedSocketChannel(shared, family);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() throws IOException {
        return shared == null ? jdk.openServerSocketChannel() : new MixedServerSocketChannel(shared, null);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        return shared == null || !isInternet(family) ? jdk.openServerSocketChannel(family)
                : new MixedServerSocketChannel(shared, family);
    }

    private static boolean isInternet(ProtocolFamily family) {
        return family == StandardProtocolFamily.INET || family == StandardProtocolFamily.INET6;
    }

    @Override
    public Pipe openPipe() throws IOException {
        return jdk.openPipe();
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        return jdk.openDatagramChannel();
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return jdk.openDatagramChannel(family);
    }

    @Override
    public @Nullable Channel inheritedChannel() throws IOException {
        return jdk.inheritedChannel();
    }

    @Nullable Shared shared() {
        return shared;
    }
}
