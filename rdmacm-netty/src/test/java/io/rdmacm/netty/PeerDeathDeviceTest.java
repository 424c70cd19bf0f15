// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.rdmacm.netty.forked.IdlePeer;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The process of the peer is killed: that of several channels at once, because it takes long to start one. */
@Nightly
@RequiresRdma
@ExtendWith(NoLeaks.class)
class PeerDeathDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(ChannelPair::warmUp);

    private final BlockingQueue<Recorder> accepted = new LinkedBlockingQueue<>();

    @ParameterizedTest
    @EnumSource
    void itsChannelsEnd(Loops loops) throws Exception {
        EventLoopGroup group = loops.group();
        try {
            Channel listener = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            Recorder recorder = new Recorder();
                            channel.pipeline().addLast(recorder);
                            accepted.add(recorder);
                        }
                    }).bind(Loops.anyPort()).sync().channel();
            Process peer = IdlePeer.start((InetSocketAddress) listener.localAddress(), 3);
            try {
                Recorder reader = accept();
                Recorder writer = accept();
                Recorder deaf = accept();
                // more than there is room for
                ChannelFuture write = writer.channel().writeAndFlush(Unpooled.wrappedBuffer(new byte[1 << 20]));
                assertThat(writer.next()).isEqualTo("not writable");
                Channel unread = deaf.channel();
                stopReading(unread);
                Channel read = reader.channel();
                Measured killed = Measured.fromNow();
                IdlePeer.kill(peer);

                aReaderGetsTheEnd(reader, read, () -> killed
                        .print("process of the peer of a Netty channel killed, until channelInactive, " + loops));
                whatIsBeingWrittenFails(write);
                aChannelThatDoesNotReadLearnsItWhenItReads(deaf, unread);
            } finally {
                IdlePeer.kill(peer);
            }
            listener.close().sync();
        } finally {
            ChannelPair.end(group);
        }
    }

    private Recorder accept() throws InterruptedException {
        return Objects.requireNonNull(accepted.poll(Recorder.SECONDS, TimeUnit.SECONDS), "no connection");
    }

    private static void stopReading(Channel channel) throws InterruptedException {
        channel.config().setAutoRead(false);
        // by which the event loop has taken note of it
        channel.eventLoop().submit(() -> { }).sync();
    }

    private static void aReaderGetsTheEnd(Recorder recorder, Channel channel, Runnable ended)
            throws InterruptedException {
        assertThat(recorder.next()).as(() -> "the end, " + recorder.cause()).isEqualTo("inactive");
        ended.run();
        assertThat(recorder.cause()).isNull();
        assertThat(channel.closeFuture().await(Recorder.SECONDS * 1000)).isTrue();
        assertThat(recorder.events()).isEmpty();
    }

    private static void whatIsBeingWrittenFails(ChannelFuture write) throws InterruptedException {
        assertThat(write.await(Recorder.SECONDS * 1000)).isTrue();
        assertThat(write.cause()).isInstanceOf(IOException.class);
        assertThat(write.channel().closeFuture().await(Recorder.SECONDS * 1000)).isTrue();
    }

    private static void aChannelThatDoesNotReadLearnsItWhenItReads(Recorder recorder, Channel channel)
            throws InterruptedException {
        channel.read();
        assertThat(recorder.next()).isEqualTo("inactive");
    }
}
