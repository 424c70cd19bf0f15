// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.Future;
import io.rdmacm.bench.device.measure.Allocation;

/** One end of a stream with Netty. Its event loop does the work. */
public final class NettyEnd implements StreamEnd {
    private static final long LIMIT_SECONDS = 270;

    // how many connects are under way at the same time
    private static final int AT_ONCE = 50;

    private final NettyTransport transport;
    private final boolean client;
    private final int channels;
    private final EventLoopGroup group;
    private final NettyExchange exchange;
    private Channel listener;
    // used by the loop
    private boolean taken;

    /**
     * Creates an end.
     *
     * @param transport what it uses
     * @param client whether it connects
     * @param size the size of the largest message
     * @param channels how many channels are open, of which one is used
     */
    NettyEnd(NettyTransport transport, boolean client, int size, int channels) {
        this.transport = transport;
        this.client = client;
        this.channels = channels;
        this.group = new MultiThreadIoEventLoopGroup(1, transport.handler());
        this.exchange = new NettyExchange(group.next(), client, size);
    }

    @Override
    public byte[] address() throws IOException {
        if (client) {
            return HostAndPort.encode(null);
        }
        var bound = transport.server(group).childHandler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                // The first one: the client opens the others when it is connected.
                if (!taken) {
                    taken = true;
                    channel.pipeline().addLast(exchange);
                }
            }
        }).bind(HostAndPort.any());
        await(bound);
        listener = bound.channel();
        return HostAndPort.encode(listener.localAddress());
    }

    @Override
    public void connect(byte[] peer) throws IOException {
        if (client) {
            await(transport.client(group).handler(exchange).connect(HostAndPort.decode(peer)));
            openOthers(HostAndPort.decode(peer));
        }
        await(exchange.ready());
    }

    private void openOthers(InetSocketAddress peer) throws IOException {
        Bootstrap bootstrap = transport.client(group).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                // it is idle
            }
        });
        for (int left = channels - 1; left > 0; left -= AT_ONCE) {
            List<ChannelFuture> connects = IntStream.range(0, Math.min(left, AT_ONCE))
                    .mapToObj(i -> bootstrap.connect(peer)).toList();
            for (ChannelFuture connect : connects) {
                await(connect);
            }
        }
    }

    @Override
    public void exchange(int times, int count, int size, Allocation allocation) throws IOException {
        await(exchange.begin(times, count, size, allocation));
    }

    private static void await(Future<?> future) throws IOException {
        if (!future.awaitUninterruptibly(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("Netty did not do it within " + LIMIT_SECONDS + " s");
        }
        if (!future.isSuccess()) {
            throw new IOException(future.cause().toString(), future.cause());
        }
    }

    @Override
    public void close() throws IOException {
        try {
            await(exchange.end());
            if (listener != null) {
                await(listener.close());
            }
        } finally {
            group.shutdownGracefully(0, LIMIT_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }
}
