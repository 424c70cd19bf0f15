// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.forked.EndsAfterClose;
import io.rdmacm.core.forked.StreamsAtTheEndOfTheStack;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a close does when the circumstances are bad. */
@RequiresRdma
class StreamClosingDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(() -> {
        // The JDK keeps the files open from which it makes names of temporary files, for the output of other JVMs.
        Files.delete(Files.createTempFile("warm", "up"));
        Streams.warmUp();
    });

    private static final StreamSettings LINGERING = StreamSettings.builder().linger(Streams.TIMEOUT).build();

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theEndIsDeliveredWhenTheProgramEnds(boolean exit) throws Exception {
        try (Streams streams = new Streams()) {
            InetSocketAddress address = streams.server.localAddress();
            try (Background<ForkedJvm.Result> program = Background.call(() -> ForkedJvm.of(EndsAfterClose.class)
                    .nativeAccess().run(address.getAddress().getHostAddress(), Integer.toString(address.getPort()),
                            Boolean.toString(exit)));
                    RdmaStream stream = streams.server.accept(Streams.TIMEOUT)) {
                assertThat(Streams.read(stream, EndsAfterClose.BYTES)).hasSize(EndsAfterClose.BYTES);
                assertThat(stream.read(ByteBuffer.allocate(1), Streams.TIMEOUT)).isEqualTo(-1);
                assertThat(program.result().status()).isZero();
            }
        }
    }

    @Test
    void aCloseThatOverflowedTheStackIsCarriedOnWith() throws Exception {
        try (Streams streams = new Streams()) {
            for (int i = 0; i < 20; i++) {
                try (Streams.Pair pair = streams.connect();
                        Background<Boolean> closing = Background.call(() -> closeDeepDown(pair.client()))) {
                    assertThat(closing.result()).isTrue();
                    assertThat(pair.server().read(ByteBuffer.allocate(1), Streams.TIMEOUT)).isEqualTo(-1);
                }
            }
        }
    }

    @Test
    void aCloseOfAServerThatOverflowedTheStackIsCarriedOnWith() throws Exception {
        // Each time at hundreds of depths.
        for (int i = 0; i < 4; i++) {
            RdmaStreamServer server = RdmaStreamServer.listen(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
            try (RdmaStream client = RdmaStream.connect(server.localAddress(), Streams.TIMEOUT)) {
                try (Background<Boolean> closing = Background.call(() -> closeDeepDown(server))) {
                    assertThat(closing.result()).isTrue();
                }
                // It was established, and nobody has accepted it.
                assertThat(client.read(ByteBuffer.allocate(1), Streams.TIMEOUT)).isEqualTo(-1);
                RdmaStreamServer.listen(server.localAddress()).close();
            }
        }
    }

    /** Interpreted: where only a lock is compiled, but not its unlock, the lock may stay held. */
    @Test
    @Nightly
    void anErrorInTheMiddleOfAnOperationEndsTheStream() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(StreamsAtTheEndOfTheStack.class).nativeAccess().options("-Xint").run();
        assertThat(result.status()).as(result.output()).isZero();
    }

    /** Closes an object where the stack is used up, and then a little higher, until that succeeds. */
    private static boolean closeDeepDown(AutoCloseable object) throws Exception {
        boolean closed = false;
        try {
            closed = closeDeepDown(object);
            if (!closed) {
                object.close();
                closed = true;
            }
        } catch (StackOverflowError e) {
            // The caller has more stack.
        }
        return closed;
    }

    /** A peer that posts no receive cannot be told of the end. */
    private static final class DeafPeer implements AutoCloseable {
        private final EventChannel channel = EventChannel.open();
        private final End end;
        private final RdmaStream stream;

        DeafPeer(Streams streams) throws Exception {
            end = new End(Loopback.resolved(channel, streams.server.localAddress()));
            end.id.connect(ConnectionParameters.builder().privateData(new ConnectData(ConnectData.isBigEndianHere(),
                    16, 0, end.region.remoteAddress(), 2, end.region.remoteKey(), end.region.remoteAddress() + 4096,
                    4096, end.region.remoteKey()).encode()).build());
            channel.await(end.id, CmEventType.ESTABLISHED, Streams.TIMEOUT).close();
            stream = streams.server.accept(Streams.TIMEOUT);
        }

        @Override
        public void close() throws RdmaException {
            stream.closeAsync();
            end.close();
            channel.close();
        }
    }

    @Test
    void theOldestStreamsThatLingerMakeWay() throws Exception {
        List<DeafPeer> peers = new ArrayList<>();
        List<CompletableFuture<Void>> closes = new ArrayList<>();
        try (Streams streams = new Streams(LINGERING)) {
            try {
                for (int i = 0; i <= StreamTask.MOST_LINGERING; i++) {
                    peers.add(new DeafPeer(streams));
                    closes.add(peers.get(i).stream.closeAsync());
                }
                closes.getFirst().get(Streams.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
                assertThat(closes.subList(1, closes.size())).noneMatch(CompletableFuture::isDone);
            } finally {
                for (DeafPeer peer : peers) {
                    peer.close();
                }
            }
            for (CompletableFuture<Void> close : closes) {
                close.get(Streams.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void anInterruptEndsTheWaitOfAClose() throws Exception {
        try (Streams streams = new Streams(LINGERING); DeafPeer peer = new DeafPeer(streams);
                Background<Boolean> closing = Background.call(() -> {
                    peer.stream.close();
                    return Thread.currentThread().isInterrupted();
                })) {
            closing.awaitAsleep();
            closing.interrupt();
            assertThat(closing.result()).isTrue();
        }
    }

    @Test
    void whatDependsOnACloseMayCloseOthers() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            CompletableFuture<Void> both = pair.client().closeAsync().thenRun(() -> {
                try {
                    pair.server().close();
                } catch (RdmaException e) {
                    throw new IllegalStateException(e);
                }
            });
            both.get(Streams.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            assertThat(pair.server().isOpen()).isFalse();
        }
    }

    @Test
    void whatDependsOnACloseMayNotWaitForOthers() throws Exception {
        try (Streams streams = new Streams(LINGERING); DeafPeer peer = new DeafPeer(streams);
                DeafPeer other = new DeafPeer(streams)) {
            CompletableFuture<Void> waiting = peer.stream.closeAsync()
                    .thenRun(() -> other.stream.closeAsync().thenRun(() -> { }).join());
            // which ends the first close
            peer.end.close();
            assertThat(waiting).failsWithin(Streams.TIMEOUT).withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void keepAliveDoesNotOutliveItsStream() throws Exception {
        StreamSettings settings = StreamSettings.builder().keepAlive(Duration.ofHours(1)).build();
        List<WeakReference<RdmaStream>> closed = new ArrayList<>();
        try (Streams streams = new Streams()) {
            for (int i = 0; i < 50; i++) {
                closed.add(connectFromTwoThreads(streams, settings));
            }
        }
        long end = System.nanoTime() + Streams.TIMEOUT.toNanos();
        while (closed.stream().anyMatch(stream -> stream.get() != null) && System.nanoTime() < end) {
            System.gc();
            Thread.yield();
        }
        assertThat(closed).allMatch(stream -> stream.get() == null);
    }

    private static WeakReference<RdmaStream> connectFromTwoThreads(Streams streams, StreamSettings settings)
            throws Exception {
        RdmaStream stream = RdmaStream.open(settings);
        stream.startConnect(streams.server.localAddress());
        try (stream; Background<Void> one = Background.run(() -> stream.finishConnect(Streams.TIMEOUT));
                Background<Void> other = Background.run(() -> stream.finishConnect(Streams.TIMEOUT))) {
            one.result();
            other.result();
            streams.server.accept(Streams.TIMEOUT).close();
        }
        return new WeakReference<>(stream);
    }
}
