// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.EndOfStack;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What platform threads and virtual threads must find alike when they wait for a file. */
class PollerTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(20);

    private final List<Integer> files = new ArrayList<>();
    private int file;
    private Poller poller;

    private enum Kind {
        PLATFORM(Libc.class, "poll"), VIRTUAL(ParkSleep.class, "run");

        private final Class<?> type;
        private final String method;

        Kind(Class<?> type, String method) {
            this.type = type;
            this.method = method;
        }

        Background<Void> start(Poller poller, Duration timeout) {
            Callable<Void> task = () -> {
                poller.await(Deadline.after(timeout).remainingNanos());
                return null;
            };
            return this == VIRTUAL ? Background.virtual(task) : Background.call(task);
        }

        /** Starts a wait without an end and returns when the thread sleeps. */
        Background<Void> sleeping(Poller poller) {
            Background<Void> waiting = start(poller, LONG).awaitInside(type, method);
            return this == VIRTUAL ? waiting.awaitWaiting() : waiting;
        }
    }

    private int open() throws RdmaException {
        int opened = Libc.eventfd();
        files.add(opened);
        return opened;
    }

    @BeforeEach
    void openFile() throws RdmaException {
        file = open();
        poller = new Poller(file);
    }

    @AfterEach
    void closeAll() throws RdmaException {
        poller.close();
        for (int opened : files) {
            Libc.close(opened);
        }
    }

    /** Waits in a thread of the kind, which sleeps until the file becomes readable. */
    private void sleepUntilReadable(Kind kind) throws Exception {
        try (Background<Void> waiting = kind.sleeping(poller)) {
            Libc.signal(file);
            waiting.result();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReadableFileEndsTheWait(Kind kind) throws Exception {
        for (int i = 0; i < 3; i++) {
            sleepUntilReadable(kind);
            // it is readable already
            kind.start(poller, LONG).result();
            drain(file);
        }
    }

    @ParameterizedTest
    @EnumSource
    void eachOfSeveralFilesEndsTheWait(Kind kind) throws Exception {
        int other = open();
        Poller both = new Poller(file, other);
        for (int readable : List.of(file, other, file)) {
            try (Background<Void> waiting = kind.sleeping(both)) {
                Libc.signal(readable);
                waiting.result();
            }
            drain(readable);
        }
        both.close();
    }

    @ParameterizedTest
    @EnumSource
    void aReadableFileEndsTheWaitsOfAll(Kind kind) throws Exception {
        Poller second = new Poller(file);
        Poller third = new Poller(open(), file);
        try (Background<Void> one = kind.sleeping(poller); Background<Void> two = kind.sleeping(second);
                Background<Void> three = kind.sleeping(third)) {
            second.wake();
            two.result();
            assertThat(one.isDone()).isFalse();
            assertThat(three.isDone()).isFalse();
            Libc.signal(file);
            one.result();
            three.result();
        }
        second.close();
        third.close();
    }

    @ParameterizedTest
    @EnumSource
    void theDeadlineEndsTheWait(Kind kind) throws Exception {
        long start = System.nanoTime();
        kind.start(poller, SHORT).result();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(SHORT);
        kind.start(poller, Duration.ZERO).result();
        // nothing is left over
        sleepUntilReadable(kind);
    }

    @ParameterizedTest
    @EnumSource
    void aWaitWithoutADeadlineEndsToo(Kind kind) throws Exception {
        try (Background<Void> waiting = kind.start(poller, Deadline.FOREVER).awaitInside(kind.type, kind.method)) {
            Libc.signal(file);
            waiting.result();
        }
        drain(file);
        try (Background<Void> waiting = kind.start(poller, Deadline.FOREVER).awaitInside(kind.type, kind.method)) {
            waiting.interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(waiting::result);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWakeEndsOneWait(Kind kind) throws Exception {
        try (Background<Void> waiting = kind.sleeping(poller)) {
            poller.wake();
            waiting.result();
        }
        sleepUntilReadable(kind);
        drain(file);
        // between waits, it ends the next one
        poller.wake();
        poller.wake();
        kind.start(poller, LONG).result();
        kind.sleeping(poller).close();
    }

    @Test
    void aWakeForWhichTheStackIsTooShortKeepsNoOtherFromTheThread() throws Exception {
        for (Background.Action deep : List.<Background.Action>of(poller::wake, () -> EndOfStack.run(poller::wake))) {
            try (Background<Void> waiting = Kind.PLATFORM.sleeping(poller)) {
                deep.run();
                waiting.result();
            }
        }
        // A call, of which there were many, may have come after the wait: it ends the next one. Nothing else is left.
        Kind.PLATFORM.start(poller, Duration.ZERO).result();
        sleepUntilReadable(Kind.PLATFORM);
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptEndsTheWait(Kind kind) throws Exception {
        try (Background<Void> waiting = kind.sleeping(poller)) {
            waiting.interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(waiting::result);
        }
        // and no later one
        sleepUntilReadable(kind);
    }

    @ParameterizedTest
    @EnumSource
    void threadsOfBothKindsTakeTurns(Kind kind) throws Exception {
        for (int i = 0; i < 3; i++) {
            for (Kind each : Kind.values()) {
                poller.wake();
                (i % 2 == 0 ? each : kind).start(poller, LONG).result();
                try (Background<Void> waiting = each.sleeping(poller)) {
                    poller.wake();
                    waiting.result();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFileThatIsNotOpenIsReported(Kind kind) throws Exception {
        int other = open();
        Poller both = new Poller(file, other);
        // it has opened all files that it needs, or one of them could have the number of the closed one
        kind.start(both, Duration.ZERO).result();
        Libc.close(other);
        files.remove((Integer) other);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(kind.start(both, LONG)::result)
                .withMessage("file descriptor " + other + " was closed outside this library");
        both.close();
        // the other file can still be waited for
        sleepUntilReadable(kind);
    }

    @ParameterizedTest
    @EnumSource
    void aFileWithTheNumberOfAClosedOneIsAnotherOne(Kind kind) throws Exception {
        for (int i = 0; i < 3; i++) {
            try (Background<Void> waiting = kind.sleeping(poller)) {
                if (i == 1) {
                    poller.wake();
                } else {
                    Libc.signal(file);
                }
                waiting.result();
            }
            replace();
        }
        sleepUntilReadable(kind);
    }

    /** The kernel removes a file that it watches only when the last duplicate is closed. */
    @ParameterizedTest
    @EnumSource
    void aDuplicateOfAClosedFileWakesNobody(Kind kind) throws Exception {
        int duplicate = Libc.duplicate(file);
        files.add(duplicate);
        sleepUntilReadable(kind);
        drain(duplicate);
        replace();
        int witness = open();
        Poller other = new Poller(witness);
        try (Background<Void> waiting = kind.sleeping(poller); Background<Void> later = kind.sleeping(other)) {
            Libc.signal(duplicate);
            Libc.signal(witness);
            later.result();
            assertThat(waiting.isDone()).isFalse();
            Libc.signal(file);
            waiting.result();
        }
        other.close();
    }

    @ParameterizedTest
    @EnumSource
    void onlyOneThreadMayWaitAndNobodySleepsAfterAClose(Kind kind) throws Exception {
        try (Background<Void> waiting = kind.sleeping(poller)) {
            assertThatIllegalStateException().isThrownBy(kind.start(poller, LONG)::result)
                    .withMessageContaining("another thread");
            poller.wake();
            waiting.result();
        }
        poller.close();
        poller.close();
        poller.wake();
        kind.start(poller, LONG).result();
    }

    private static void drain(int eventfd) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            Libc.drain(eventfd, arena.allocate(Long.BYTES, Long.BYTES).address());
        }
    }

    /** Closes the file and opens another one with the same number, which other threads may take meanwhile. */
    private void replace() throws RdmaException {
        int wanted = file;
        Libc.close(wanted);
        files.remove((Integer) wanted);
        List<Integer> unwanted = new ArrayList<>();
        while (!files.contains(wanted)) {
            int opened = Libc.eventfd();
            (opened == wanted ? files : unwanted).add(opened);
            assertThat(opened).as("the lowest free number").isLessThanOrEqualTo(wanted);
        }
        for (int opened : unwanted) {
            Libc.close(opened);
        }
    }
}
