// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.rdmacm.netty.forked.IdlePeer;
import io.rdmacm.netty.testing.ChannelPair;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NoLeaks;
import io.rdmacm.netty.testing.Recorder;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The process of the peer is killed. */
@RequiresRdma
@ExtendWith(NoLeaks.class)
class PeerDeathDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(ChannelPair::warmUp);

    private interface Scenario {
        void run(Channel channel, Recorder recorder, Process peer) throws Exception;
    }

    private static void with(Loops loops, Scenario scenario) throws Exception {
        EventLoopGroup group = loops.group();
        Recorder recorder = new Recorder();
        try {
            Channel listener = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .childHandler(recorder).bind(Loops.anyPort()).sync().channel();
            Process peer = IdlePeer.start((InetSocketAddress) listener.localAddress());
            try {
                scenario.run(recorder.channel(), recorder, peer);
            } finally {
                IdlePeer.kill(peer);
            }
            listener.close().sync();
        } finally {
            ChannelPair.end(group);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReaderGetsAnExceptionAndThenTheEnd(Loops loops) throws Exception {
        with(loops, (channel, recorder, peer) -> {
            Measured killed = Measured.fromNow();
            IdlePeer.kill(peer);

            assertThat(recorder.next()).isEqualTo("exception");
            killed.print("process of the peer of a Netty channel killed, until exceptionCaught, " + loops);
            assertThat(recorder.next()).isEqualTo("inactive");
            assertThat(recorder.cause()).isInstanceOf(RdmaException.class);
            assertThat(channel.closeFuture().await(Recorder.SECONDS * 1000)).isTrue();
            assertThat(recorder.events()).isEmpty();
        });
    }

    @ParameterizedTest
    @EnumSource
    void whatIsBeingWrittenFails(Loops loops) throws Exception {
        with(loops, (channel, recorder, peer) -> {
            // more than there is room for
            ChannelFuture write = channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[1 << 20]));
            assertThat(recorder.next()).isEqualTo("not writable");
            IdlePeer.kill(peer);

            assertThat(write.await(Recorder.SECONDS * 1000)).isTrue();
            assertThat(write.cause()).isInstanceOf(IOException.class);
            assertThat(channel.closeFuture().await(Recorder.SECONDS * 1000)).isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource
    void aChannelThatDoesNotReadLearnsItWhenItReads(Loops loops) throws Exception {
        with(loops, (channel, recorder, peer) -> {
            channel.config().setAutoRead(false);
            // by which the event loop has taken note of it
            channel.eventLoop().submit(() -> { }).sync();
            IdlePeer.kill(peer);
            channel.read();

            assertThat(recorder.next()).isEqualTo("exception");
            assertThat(recorder.next()).isEqualTo("inactive");
        });
    }
}
