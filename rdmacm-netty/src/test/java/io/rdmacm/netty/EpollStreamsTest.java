// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.rdmacm.core.internal.access.StreamAccess;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.verbs.error.RdmaException;
import org.junit.jupiter.api.Test;

/** What the streams of an event loop share, where it cannot be had. */
class EpollStreamsTest {
    private static final Duration LIMIT = Duration.ofMinutes(4);

    /** No queues can be opened, as where a process has no files left. */
    private static final class NoQueues extends StreamAccess {
        private static void with(Runnable action) {
            StreamAccess before = StreamAccess.get();
            register(new NoQueues());
            try {
                action.run();
            } finally {
                register(before);
            }
        }

        @Override
        public SharedQueues openQueues() throws RdmaException {
            throw new RdmaException("eventfd", "no more files, in a test");
        }

        @Override
        public RdmaStream open(StreamSettings settings, SharedQueues queues, Runnable changed) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void attach(RdmaStream stream, Runnable wake) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int file(RdmaStream stream) {
            throw new UnsupportedOperationException();
        }

        @Override
        public RdmaStreamServer listen(InetSocketAddress local, int backlog, StreamSettings settings) {
            throw new UnsupportedOperationException();
        }

        @Override
        public RdmaStreamServer listenExactly(InetSocketAddress local, int backlog, StreamSettings settings) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Request nextRequest(RdmaStreamServer server) {
            throw new UnsupportedOperationException();
        }
    }

    private static WeakReference<EventLoop> failIn(EventLoopGroup group) {
        IoEventLoop loop = (IoEventLoop) group.next();
        NoQueues.with(() -> assertThatThrownBy(() -> EpollStreams.of(loop, null)).isInstanceOf(RdmaException.class));
        return new WeakReference<>(loop);
    }

    @Test
    void anEventLoopForgetsAChannelThatItCouldNotTake() throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        try {
            EventLoop loop = group.next();
            RdmaStreamChannel channel = new RdmaStreamChannel();
            NoQueues.with(() -> assertThat(loop.register(channel).awaitUninterruptibly().cause())
                    .isInstanceOf(RdmaException.class));
            channel.closeFuture().sync();
            assertThat(Loops.hooks(loop)).isZero();
        } finally {
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        }
    }

    private static WeakReference<EventLoop> useOneThatEnds() throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        try {
            return failIn(group);
        } finally {
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    void anEventLoopWithoutQueuesIsForgotten() throws Exception {
        WeakReference<EventLoop> loop = useOneThatEnds();
        long end = System.nanoTime() + LIMIT.toNanos();
        while (loop.get() != null && System.nanoTime() < end) {
            System.gc();
        }
        assertThat(loop.get()).as("still known").isNull();
    }
}
