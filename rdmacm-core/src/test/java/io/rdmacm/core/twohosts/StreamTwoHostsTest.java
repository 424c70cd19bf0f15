// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.work.WorkCompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stream when the wire loses packets, or is cut for a short or a long time. */
@RequiresTwoHosts
class StreamTwoHostsTest {
    private static final Duration CUT = Duration.ofSeconds(1);
    private static final Duration KEEP_ALIVE = Duration.ofMillis(500);
    private static final int BYTES = 1 << 20;
    private static final int PIECE = 1 << 14;

    private InUse before;

    @BeforeEach
    void count() throws Exception {
        // What the first stream of a JVM opens stays.
        try (Line line = echo(KEEP_ALIVE); RdmaStream stream = connect(line, StreamEcho.settings(KEEP_ALIVE))) {
            exchange(stream, PIECE);
        }
        before = InUse.before();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        OtherHost.mend();
        before.assertAgain();
    }

    private static Line echo(Duration keepAlive) throws Exception {
        return OtherHost.play(StreamEcho.class, keepAlive.toMillis());
    }

    private static RdmaStream connect(Line line, StreamSettings settings) throws Exception {
        return RdmaStream.connect(OtherHost.address((int) line.hearNumber()), settings, Server.TIMEOUT);
    }

    private static void read(RdmaStream stream, ByteBuffer target) throws Exception {
        while (target.hasRemaining()) {
            assertThat(stream.read(target, Server.TIMEOUT)).isPositive();
        }
    }

    /** Sends some pieces, and checks what comes back. */
    private static void exchange(RdmaStream stream, int bytes) throws Exception {
        Random random = new Random(bytes);
        byte[] data = new byte[PIECE];
        ByteBuffer answer = ByteBuffer.allocate(PIECE);
        for (int left = bytes; left > 0; left -= PIECE) {
            random.nextBytes(data);
            stream.write(ByteBuffer.wrap(data), Server.TIMEOUT);
            read(stream, answer.clear());
            assertThat(answer.array()).isEqualTo(data);
        }
    }

    private static void assertFails(RdmaStream stream) {
        assertThatThrownBy(() -> stream.read(ByteBuffer.allocate(1), Server.TIMEOUT))
                .isInstanceOf(WorkCompletionException.class);
        assertThatThrownBy(() -> stream.write(ByteBuffer.allocate(1))).isInstanceOf(IOException.class);
        assertThat(stream.poll() & RdmaStream.ENDED).isNotZero();
    }

    @Test
    void whatIsLostIsSentAgain() throws Exception {
        try (Line line = echo(Duration.ZERO);
                RdmaStream stream = connect(line, StreamEcho.settings(Duration.ZERO))) {
            OtherHost.netem("loss 2%");
            Measured measured = Measured.fromNow();
            exchange(stream, BYTES);
            measured.print("a stream of 1 MiB each way in pieces of 16 KiB, 2 % loss: intact");
            OtherHost.mend();
            stream.shutdownOutput();
            assertThat(line.hear()).isEqualTo("ended");
        }
    }

    @Test
    void withinTheRetryTimeTheStreamGoesOn() throws Exception {
        try (Line line = echo(Duration.ZERO); RdmaStream stream = connect(line, StreamSettings.defaults())) {
            exchange(stream, PIECE);
            OtherHost.cut();
            Measured measured = Measured.fromNow();
            byte[] data = {1, 2, 3};
            stream.write(ByteBuffer.wrap(data), Server.TIMEOUT);
            assertThatThrownBy(() -> stream.read(ByteBuffer.allocate(1), CUT))
                    .isInstanceOf(RdmaTimeoutException.class);
            OtherHost.mend();
            ByteBuffer answer = ByteBuffer.allocate(data.length);
            read(stream, answer);
            measured.print("a stream over a wire cut for " + CUT.toSeconds() + " s, default retries: goes on");
            assertThat(answer.array()).isEqualTo(data);
            stream.shutdownOutput();
            assertThat(line.hear()).isEqualTo("ended");
        }
    }

    @Test
    void beyondTheRetryTimeTheStreamFailsAndAFreshOneWorks() throws Exception {
        try (Line line = echo(KEEP_ALIVE)) {
            try (RdmaStream stream = connect(line, StreamEcho.settings(Duration.ZERO))) {
                exchange(stream, PIECE);
                OtherHost.cut();
                Measured measured = Measured.fromNow();
                stream.write(ByteBuffer.allocate(1), Server.TIMEOUT);
                assertFails(stream);
                measured.print("a stream over a cut wire, 6 retries of 0.5 s: WorkCompletionException");
                assertThat(line.hear()).as("its keep-alive").isEqualTo("WorkCompletionException");
            }
        }
        OtherHost.mend();
        try (Line line = echo(Duration.ZERO);
                RdmaStream stream = connect(line, StreamEcho.settings(Duration.ZERO))) {
            exchange(stream, PIECE);
        }
    }

    @Test
    void theKeepAliveOfAnIdleStreamFindsACutWire() throws Exception {
        try (Line line = echo(KEEP_ALIVE); RdmaStream stream = connect(line, StreamEcho.settings(KEEP_ALIVE))) {
            exchange(stream, PIECE);
            OtherHost.cut();
            Measured measured = Measured.fromNow();
            assertFails(stream);
            measured.print("an idle stream over a cut wire, keep-alive of 0.5 s, 6 retries of 0.5 s: "
                    + "WorkCompletionException");
            assertThat(line.hear()).isEqualTo("WorkCompletionException");
        }
    }

    @Test
    void anIdleStreamWithoutKeepAliveDoesNotNotice() throws Exception {
        try (Line line = echo(Duration.ZERO);
                RdmaStream stream = connect(line, StreamEcho.settings(Duration.ZERO))) {
            exchange(stream, PIECE);
            OtherHost.cut();
            assertThatThrownBy(() -> stream.read(ByteBuffer.allocate(1), CUT))
                    .isInstanceOf(RdmaTimeoutException.class);
            OtherHost.mend();
            exchange(stream, PIECE);
        }
    }
}
