// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.io.Serializable;
import java.net.InetSocketAddress;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.Allocation;

/** One end of a stream with Netty. Its event loop does the work. */
final class NettyStream extends StreamEnd {
    private final NettyTransport transport;
    private final EventLoopGroup group;
    private final NettyExchange exchange;
    // null for a client
    private Channel listener;

    NettyStream(NettyTransport transport, Load load, boolean client, boolean roundTrips) {
        super(load, client, roundTrips);
        this.transport = transport;
        this.group = new MultiThreadIoEventLoopGroup(1, transport.handler());
        this.exchange = new NettyExchange(group.next(), client, largest);
    }

    @Override
    public Serializable address() throws IOException {
        if (client) {
            return null;
        }
        var bound = transport.server(group).childHandler(exchange).bind(Port.anyPort());
        NettyTransport.await(bound);
        listener = bound.channel();
        return (InetSocketAddress) listener.localAddress();
    }

    @Override
    public void connect(Serializable peer) throws IOException {
        if (client) {
            NettyTransport.await(transport.client(group).handler(exchange).connect((InetSocketAddress) peer));
        }
        NettyTransport.await(exchange.ready());
    }

    @Override
    void exchange(int times, int count, int size, Allocation allocated) throws IOException {
        NettyTransport.await(exchange.begin(times, count, size, allocated));
    }

    @Override
    public void close() throws IOException {
        try {
            NettyTransport.await(exchange.ready());
            NettyTransport.await(exchange.ready().getNow().close());
            if (listener != null) {
                NettyTransport.await(listener.close());
            }
        } finally {
            NettyTransport.shutDown(group);
        }
    }
}
