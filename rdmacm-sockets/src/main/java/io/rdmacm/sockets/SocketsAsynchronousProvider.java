// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.IllegalChannelGroupException;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

import org.jspecify.annotations.Nullable;

/**
 * Asynchronous channels that are over RDMA where that is possible, and those of the JDK otherwise. Set by the agent, or
 * by {@code -Djava.nio.channels.spi.AsynchronousChannelProvider=io.rdmacm.sockets.SocketsAsynchronousProvider} beside
 * {@link SocketsProvider}.
 */
public final class SocketsAsynchronousProvider extends AsynchronousChannelProvider {
    private final AsynchronousChannelProvider jdk = Installation.jdkAsynchronousProvider();
    // Null if RDMA is of no use here.
    private final @Nullable Shared shared;
    private final MixedGroup common;

    /** Called by the JDK. */
    public SocketsAsynchronousProvider() {
        this(SelectorProvider.provider() instanceof SocketsProvider sockets ? sockets.shared() : null);
    }

    SocketsAsynchronousProvider(@Nullable Shared shared) {
        this.shared = shared;
        this.common = new MixedGroup(this, null, () -> Executors.newCachedThreadPool(
                Thread.ofPlatform().daemon().name("rdmacm-sockets asynchronous ", 0).factory()));
    }

    @Override
    public AsynchronousChannelGroup openAsynchronousChannelGroup(int threads, ThreadFactory factory)
            throws IOException {
        AsynchronousChannelGroup tcp = jdk.openAsynchronousChannelGroup(threads, factory);
        return shared == null ? tcp
                : new MixedGroup(this, tcp, () -> Executors.newFixedThreadPool(threads, factory));
    }

    @Override
    public AsynchronousChannelGroup openAsynchronousChannelGroup(ExecutorService executor, int initialSize)
            throws IOException {
        AsynchronousChannelGroup tcp = jdk.openAsynchronousChannelGroup(executor, initialSize);
        return shared == null ? tcp : new MixedGroup(this, tcp, () -> executor);
    }

    @Override
    public AsynchronousServerSocketChannel openAsynchronousServerSocketChannel(
            @Nullable AsynchronousChannelGroup group) throws IOException {
        return shared == null ? jdk.openAsynchronousServerSocketChannel(group)
                : new MixedAsynchronousServer(shared, jdk, of(group));
    }

    @Override
    public AsynchronousSocketChannel openAsynchronousSocketChannel(@Nullable AsynchronousChannelGroup group)
            throws IOException {
        return shared == null ? jdk.openAsynchronousSocketChannel(group)
                : new MixedAsynchronousSocket(shared, jdk, of(group));
    }

    private MixedGroup of(@Nullable AsynchronousChannelGroup group) {
        if (group == null) {
            return common;
        }
        if (!(group instanceof MixedGroup mixed)) {
            throw new IllegalChannelGroupException();
        }
        return mixed;
    }
}
