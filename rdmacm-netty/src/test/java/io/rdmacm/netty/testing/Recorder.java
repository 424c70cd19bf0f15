// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty.testing;

import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;

/** The last handler of a channel: keeps what happens to it, and what it receives. */
public final class Recorder extends ChannelInboundHandlerAdapter {
    /** Long enough for the slowest machine. Tests reach it only if they fail. */
    public static final long SECONDS = 240;

    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    // guarded by this
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    private volatile Throwable cause;
    private volatile SocketChannel channel;

    @Override
    public void channelActive(ChannelHandlerContext context) {
        channel = (SocketChannel) context.channel();
        events.add("active");
    }

    @Override
    public synchronized void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        ByteBuf buffer = (ByteBuf) message;
        buffer.readBytes(received, buffer.readableBytes());
        buffer.release();
        notifyAll();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        events.add(context.channel().isWritable() ? "writable" : "not writable");
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            events.add("end");
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable exception) {
        cause = exception;
        events.add("exception");
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        events.add("inactive");
    }

    /** Returns the channel, once it is active; the event is taken. */
    public SocketChannel channel() throws InterruptedException {
        String event = next();
        if (!"active".equals(event)) {
            throw new AssertionError("not active but " + event);
        }
        return channel;
    }

    /** Returns the next thing that happens; null if nothing does. */
    public String next() throws InterruptedException {
        return events.poll(SECONDS, TimeUnit.SECONDS);
    }

    /** Returns what has happened and was not taken yet. */
    public List<String> events() {
        return List.copyOf(events);
    }

    /** Returns the last exception; null if there was none. */
    public Throwable cause() {
        return cause;
    }

    /** Returns what has been received. */
    public synchronized byte[] received() {
        return received.toByteArray();
    }

    /** Returns what has been received, once it is so many bytes. */
    public synchronized byte[] received(int length) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (received.size() < length) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                throw new AssertionError("received " + received.size() + " bytes instead of " + length);
            }
            wait(left);
        }
        return received.toByteArray();
    }
}
