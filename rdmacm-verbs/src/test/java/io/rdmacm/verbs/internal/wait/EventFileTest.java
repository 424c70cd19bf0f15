// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Epoll;
import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.testing.EndOfStack;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One file that is readable when others are, or when it is told to. */
class EventFileTest {
    private EventFile file;
    private Epoll watcher;
    private int other;

    @BeforeEach
    void open() throws RdmaException {
        file = EventFile.open();
        other = Libc.eventfd();
        watcher = Epoll.open();
        assertThat(watcher.watch(file.fd(), 1)).isZero();
    }

    @AfterEach
    void close() throws RdmaException {
        watcher.close();
        file.close();
        Libc.close(other);
    }

    private boolean isReadable() throws RdmaException {
        return watcher.await(0) == 1;
    }

    private void drain() throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            Libc.drain(other, arena.allocate(Long.BYTES, Long.BYTES).address());
        }
    }

    @Test
    void itIsReadableFromAWakeToTheReset() throws RdmaException {
        file.reset();
        for (int i = 0; i < 2; i++) {
            assertThat(isReadable()).isFalse();
            file.wake();
            file.wake();
            assertThat(isReadable()).isTrue();
            file.reset();
        }
        assertThat(isReadable()).isFalse();
    }

    @Test
    void aWakeForWhichTheStackIsTooShortKeepsNoOtherFromTheFile() throws Exception {
        file.wake();
        file.reset();
        EndOfStack.run(file::wake);
        assertThat(isReadable()).isTrue();
        file.reset();
        assertThat(isReadable()).isFalse();
    }

    @Test
    void itIsReadableWheneverAFileIsThatItWatches() throws RdmaException {
        file.watch(other);
        for (int i = 0; i < 2; i++) {
            assertThat(isReadable()).isFalse();
            Libc.signal(other);
            assertThat(isReadable()).isTrue();
            drain();
        }
    }

    @Test
    void awaitTellsWhatIsReadableByItsToken() throws RdmaException {
        file.watch(other, 7);
        assertThat(file.await(0)).isZero();
        Libc.signal(other);
        assertThat(file.await(Long.MAX_VALUE)).isOne();
        assertThat(file.token(0)).isEqualTo(7);
        file.forget(other);
        file.wake();
        assertThat(file.await(Long.MAX_VALUE)).isOne();
        assertThat(file.token(0)).isEqualTo(EventFile.WAKEUP);
        file.reset();
        assertThat(file.await(1)).isZero();
    }

    @Test
    void anArmedFileIsReportedOnce() throws RdmaException {
        Libc.signal(other);
        for (int i = 0; i < 2; i++) {
            file.arm(other, 7);
            assertThat(file.await(0)).isOne();
            assertThat(file.token(0)).isEqualTo(7);
            assertThat(file.await(0)).isZero();
        }
    }

    @Test
    void aFileThatIsNotOpenIsReported() {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> file.watch(-1))
                .withMessage("epoll_ctl: EBADF, Bad file descriptor");
    }
}
