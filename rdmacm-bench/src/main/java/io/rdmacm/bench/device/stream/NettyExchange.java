// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.EOFException;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.rdmacm.bench.device.measure.Allocation;

/**
 * Sends and receives in turns, as a handler of a channel: {@link StreamEnd#exchange}. It sends the same memory again
 * and again, as the other ways do, as long as the channel is writable. For one channel.
 */
final class NettyExchange extends ChannelInboundHandlerAdapter {
    private final EventLoop loop;
    private final boolean client;
    private final int largest;
    private final Promise<Channel> ready;
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

    NettyExchange(EventLoop loop, boolean client, int largest) {
        this.loop = loop;
        this.client = client;
        this.largest = largest;
        this.ready = loop.newPromise();
    }

    /** {@return the channel when it is connected} */
    Future<Channel> ready() {
        return ready;
    }

    /** Begins an {@linkplain StreamEnd#exchange exchange}, when the last one has ended; returns when it is done. */
    Future<Void> begin(int howOften, int messages, int bytes, Allocation counter) {
        Promise<Void> promise = loop.newPromise();
        loop.execute(() -> {
            done = promise;
            allocation = counter;
            operations = howOften * messages;
            times = howOften;
            count = messages;
            size = bytes;
            if (!channel.isActive()) {
                channelInactive(null);
                return;
            }
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
        if (data != null) {
            data.release();
            data = null;
        }
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
