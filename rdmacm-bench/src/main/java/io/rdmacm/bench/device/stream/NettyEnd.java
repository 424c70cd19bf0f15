// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.Future;
import io.rdmacm.bench.device.measure.Allocation;

/** One end of a stream with Netty. Its event loop does the work. */
public final class NettyEnd implements StreamEnd {
    private static final long LIMIT_SECONDS = 270;

    private final NettyTransport transport;
    private final boolean client;
    private final EventLoopGroup group;
    private final NettyExchange exchange;
    private Channel listener;

    /**
     * Creates an end.
     *
     * @param transport what it uses
     * @param client whether it connects
     * @param size the size of the largest message
     */
    NettyEnd(NettyTransport transport, boolean client, int size) {
        this.transport = transport;
        this.client = client;
        this.group = new MultiThreadIoEventLoopGroup(1, transport.handler());
        this.exchange = new NettyExchange(group.next(), client, size);
    }

    @Override
    public byte[] address() throws IOException {
        if (client) {
            return HostAndPort.encode(null);
        }
        var bound = transport.server(group).childHandler(exchange).bind(HostAndPort.any());
        await(bound);
        listener = bound.channel();
        return HostAndPort.encode(listener.localAddress());
    }

    @Override
    public void connect(byte[] peer) throws IOException {
        if (client) {
            await(transport.client(group).handler(exchange).connect(HostAndPort.decode(peer)));
        }
        await(exchange.ready());
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
