// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.reactor;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.util.concurrent.Future;
import io.rdmacm.netty.RdmaServerStreamChannel;
import io.rdmacm.netty.RdmaStreamChannel;
import reactor.core.publisher.Mono;
import reactor.netty.FutureMono;
import reactor.netty.resources.LoopResources;

/** What Reactor Netty needs to run over RDMA: event loops, and channels for them. */
final class RdmaLoops implements LoopResources {
    private final EventLoopGroup loops;

    RdmaLoops(IoHandlerFactory handlers) {
        loops = new MultiThreadIoEventLoopGroup(handlers);
    }

    @Override
    public EventLoopGroup onServer(boolean useNative) {
        return loops;
    }

    // Reactor Netty asks for a SocketChannel by its class, and uses it as a Channel.
    @Override
    @SuppressWarnings("unchecked")
    public <C extends Channel> C onChannel(Class<C> type, EventLoopGroup group) {
        return (C) (type == ServerSocketChannel.class ? new RdmaServerStreamChannel() : new RdmaStreamChannel());
    }

    @Override
    @SuppressWarnings("unchecked")
    public <C extends Channel> Class<? extends C> onChannelClass(Class<C> type, EventLoopGroup group) {
        return (Class<? extends C>) (type == ServerSocketChannel.class ? RdmaServerStreamChannel.class
                : RdmaStreamChannel.class);
    }

    @Override
    @SuppressWarnings({"rawtypes", "unchecked"})
    public Mono<Void> disposeLater(Duration quietPeriod, Duration timeout) {
        return FutureMono.from((Future) loops.shutdownGracefully(quietPeriod.toMillis(),
                timeout.toMillis(), TimeUnit.MILLISECONDS));
    }
}
