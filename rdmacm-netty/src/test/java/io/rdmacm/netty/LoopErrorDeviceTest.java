// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicReference;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.rdmacm.core.RejectedException;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What goes wrong with one channel, an Error too, ends that channel, and neither its event loop nor a server. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class LoopErrorDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(ChannelPair::warmUp);

    // more than any device has
    private static final int MOST_INLINE = 0xFFFE;

    /** An allocator that has had enough. */
    private static final class Exhausted extends AbstractByteBufAllocator {
        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            throw new InternalError("no buffer");
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            throw new InternalError("no buffer");
        }
    }

    private static ServerBootstrap server(EventLoopGroup group) {
        return Loops.server(group, channel -> channel.pipeline().addLast(new Recorder()));
    }

    private static Bootstrap client(EventLoopGroup group, Recorder recorder) {
        return new Bootstrap().group(group).channel(RdmaStreamChannel.class).handler(recorder);
    }

    /** The channel that had the Error is closed; another one of its event loop works. */
    private static void onlyItHasEnded(Recorder recorder, Channel channel, Channel server) throws InterruptedException {
        assertThat(channel.closeFuture().await(Recorder.SECONDS * 1000)).isTrue();
        assertThat(recorder.cause()).isInstanceOf(InternalError.class);
        Recorder other = new Recorder();
        Channel working = client(channel.eventLoop().parent(), other).connect(server.localAddress()).sync().channel();
        working.writeAndFlush(Unpooled.wrappedBuffer(new byte[1])).sync();
        working.close().sync();
        server.close().sync();
    }

    @ParameterizedTest
    @EnumSource
    void anErrorAtTheEndOfAConnect(Loops loops) throws Exception {
        EventLoopGroup group = loops.group();
        try {
            Channel server = server(group).bind(Loops.anyPort()).sync().channel();
            Recorder recorder = new Recorder();
            Channel channel = client(group, recorder).register().sync().channel();
            ChannelFuture connected = channel.connect(server.localAddress(), new DefaultChannelPromise(channel) {
                @Override
                public boolean trySuccess() {
                    throw new InternalError("not now");
                }
            });
            onlyItHasEnded(recorder, channel, server);
            assertThat(connected.isSuccess()).isFalse();
        } finally {
            ChannelPair.end(group);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anErrorDuringARead(Loops loops) throws Exception {
        EventLoopGroup group = loops.group();
        try {
            Channel server = Loops.server(group, channel -> channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[1])))
                    .bind(Loops.anyPort()).sync().channel();
            Recorder recorder = new Recorder();
            Channel channel = client(group, recorder).option(ChannelOption.ALLOCATOR, new Exhausted())
                    .connect(server.localAddress()).sync().channel();
            onlyItHasEnded(recorder, channel, server);
        } finally {
            ChannelPair.end(group);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStreamThatDoesNotComeAboutDoesNotStopTheServer(Loops loops) throws Exception {
        EventLoopGroup group = loops.group();
        try {
            AtomicReference<Throwable> atServer = new AtomicReference<>();
            Channel server = server(group).handler(new ChannelInboundHandlerAdapter() {
                @Override
                public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                    atServer.set(cause);
                    context.fireExceptionCaught(cause);
                }
            }).option(RdmaChannelOption.INLINE_SIZE, MOST_INLINE).bind(Loops.anyPort()).sync().channel();
            for (int i = 0; i < 3; i++) {
                ChannelFuture refused = client(group, new Recorder()).connect(server.localAddress()).await();
                assertThat(refused.cause()).hasRootCauseInstanceOf(RejectedException.class);
            }
            // One more, so that the event loop has been told of those before.
            assertThat(client(group, new Recorder()).connect(server.localAddress()).await().isSuccess()).isFalse();
            assertThat(server.config().isAutoRead()).isTrue();
            assertThat(atServer.get()).isNull();
            assertThat(server.isActive()).isTrue();
            server.close().sync();
        } finally {
            ChannelPair.end(group);
        }
    }
}
