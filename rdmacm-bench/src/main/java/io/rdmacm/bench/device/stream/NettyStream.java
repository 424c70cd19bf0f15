// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.EOFException;
import java.io.IOException;
import java.io.Serializable;
import java.net.InetSocketAddress;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.Allocation;

/** One end of a stream with Netty. Its event loop does the work. */
final class NettyStream extends StreamEnd {
    private final NettyTransport transport;
    private final EventLoopGroup group;
    private final Exchange exchange;

    NettyStream(NettyTransport transport, Load load, boolean client, boolean roundTrips) {
        super(load, client, roundTrips);
        this.transport = transport;
        this.group = new MultiThreadIoEventLoopGroup(1, transport.handler());
        own(() -> NettyTransport.shutDown(group));
        this.exchange = new Exchange();
    }

    @Override
    public Serializable address() throws IOException {
        if (client) {
            return null;
        }
        var bound = transport.server(group).childHandler(exchange).bind(Port.anyPort());
        NettyTransport.await(bound);
        own(() -> NettyTransport.await(bound.channel().close()));
        return (InetSocketAddress) bound.channel().localAddress();
    }

    @Override
    public void connect(Serializable peer) throws IOException {
        if (client) {
            NettyTransport.await(transport.client(group).handler(exchange).connect((InetSocketAddress) peer));
        }
        NettyTransport.await(exchange.ready);
        own(() -> NettyTransport.await(exchange.channel.close()));
    }

    @Override
    void exchange(int times, int count, int size, Allocation allocated) throws IOException {
        NettyTransport.await(exchange.begin(times, count, size, allocated));
    }

    /**
     * Sends and receives in turns, as a handler of the channel. It sends the same memory again and again, as the other
     * ways do, as long as the channel is writable.
     */
    private final class Exchange extends ChannelInboundHandlerAdapter {
        private final EventLoop loop = group.next();
        private final Promise<Channel> ready = loop.newPromise();
        // The fields below are used in the event loop.
        private Channel channel;
        private ByteBuf data;
        private long arrived;
        // of the exchange that is on
        private Promise<Void> done;
        private Allocation allocation;
        private int operations;
        private int times;
        private int count;
        private int size;
        private boolean sending;
        private int left;
        private boolean advancing;

        /** Begins an exchange, when the last one has ended; returns when it is done. */
        Future<Void> begin(int howOften, int messages, int bytes, Allocation counter) {
            Promise<Void> promise = loop.newPromise();
            loop.execute(() -> {
                done = promise;
                allocation = counter;
                operations = howOften * messages;
                times = howOften;
                count = messages;
                size = bytes;
                allocation.start();
                turn(client);
                advance();
            });
            return promise;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            channel = context.channel();
            data = channel.alloc().directBuffer(largest).writeZero(largest);
            ready.trySuccess(channel);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf part = (ByteBuf) message;
            arrived += part.readableBytes();
            part.release();
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            advance();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            advance();
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            data.release();
            exceptionCaught(context, new EOFException("the channel was closed"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            ready.tryFailure(cause);
            if (done != null) {
                done.tryFailure(cause);
                done = null;
            }
        }

        private void turn(boolean sends) {
            sending = sends;
            left = count;
        }

        /** Does what can be done now. A flush may call it once more, which changes nothing. */
        private void advance() {
            if (advancing) {
                return;
            }
            advancing = true;
            while (done != null && (sending ? send() : receive())) {
                if (sending == client) {
                    turn(!sending);
                } else if (--times > 0) {
                    turn(client);
                } else {
                    allocation.end(operations);
                    Promise<Void> promise = done;
                    done = null;
                    promise.trySuccess(null);
                }
            }
            advancing = false;
        }

        /** Sends what is left; returns whether that is all. */
        private boolean send() {
            while (left > 0 && channel.isWritable()) {
                channel.write(data.retainedSlice(0, size), channel.voidPromise());
                left--;
                if (left == 0 || !channel.isWritable()) {
                    channel.flush();
                }
            }
            return left == 0;
        }

        private boolean receive() {
            long expected = (long) count * size;
            if (arrived < expected) {
                return false;
            }
            arrived -= expected;
            return true;
        }
    }
}
