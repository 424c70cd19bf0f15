// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CyclicBarrier;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;

/** Calls by name: arguments, results, errors of each kind, and the error number a thread at a time. */
@WithFakeVerbs
class NativeFunctionTest {
    private static final NativeFunction CLOSE = NativeFunction.libc("close");
    private static final NativeFunction EVENTFD = NativeFunction.libc("eventfd");
    private static final NativeFunction OPEN_DEVICE = NativeFunction.of("ibv_open_device");
    private static final NativeFunction DEREG_MR = NativeFunction.of("ibv_dereg_mr");

    @Test
    void aMissingFunctionIsNamedWithItsLibraryAndPackage() throws RdmaException {
        NativeFunction missing = NativeFunction.of("ibv_of_next_year");
        String library = System.getProperty("io.rdmacm.libibverbs");

        for (int i = 0; i < 2; i++) {
            assertThatExceptionOfType(NativeLibraryException.class).isThrownBy(() -> missing.callInt(1))
                    .withMessage(library + " has no function ibv_of_next_year: the installed rdma-core is too old,"
                            + " update the package libibverbs1")
                    .satisfies(e -> assertThat(e.library()).isEqualTo(library))
                    .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_of_next_year"));
        }
        assertThat(missing.isAvailable()).isFalse();
        assertThat(OPEN_DEVICE.isAvailable()).isTrue();
    }

    @Test
    void aMissingFunctionOfTheCLibraryIsNamedToo() {
        assertThatThrownBy(() -> NativeFunction.libc("no_such_function").callLong())
                .isInstanceOf(NativeLibraryException.class).hasMessageContainingAll("no_such_function", "libc6");
    }

    @Test
    void everyArgumentArrives() throws RdmaException {
        NativeFunction function = NativeFunction.of("ibv_create_cq");
        FakeVerbs.fail("ibv_create_cq", Rdma.EINVAL());

        assertThat(function.callLong(1, 2, 3, 4, 5)).isZero();

        assertThat(FakeVerbs.calls().getFirst().arguments()).startsWith(1L, 2L, 3L, 4L, 5L);
        assertThat(Errno.last()).isEqualTo(Rdma.EINVAL());
    }

    @Test
    void eachWayToReportAnErrorBecomesTheException() {
        FakeVerbs.fail("ibv_open_device", Rdma.EACCES());
        assertThatThrownBy(() -> Check.pointer(OPEN_DEVICE, "fake0", OPEN_DEVICE.callLong(1)))
                .isInstanceOfSatisfying(RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Rdma.EACCES()))
                .hasMessageStartingWith("ibv_open_device (fake0): EACCES, Permission denied");

        FakeVerbs.fail("ibv_dereg_mr", Rdma.EBUSY());
        assertThatThrownBy(() -> Check.returned(DEREG_MR, DEREG_MR.callInt(1)))
                .isInstanceOfSatisfying(RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Rdma.EBUSY()));
        // some functions give the number negated, and some old drivers give -1 and set errno
        assertThatThrownBy(() -> Check.returned(DEREG_MR, -Rdma.EBUSY()))
                .isInstanceOfSatisfying(RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Rdma.EBUSY()));
        assertThatThrownBy(() -> Check.returned(CLOSE, CLOSE.callInt(-1)))
                .isInstanceOfSatisfying(RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Rdma.EBADF()));

        assertThatThrownBy(() -> Check.minusOne(CLOSE, CLOSE.callInt(-1)))
                .isInstanceOfSatisfying(RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Rdma.EBADF()))
                .hasMessage("close: EBADF, Bad file descriptor");
    }

    @Test
    void theErrorNumberIsTheThreadsOwn() throws Exception {
        CyclicBarrier together = new CyclicBarrier(2);
        try (Background<Void> one = Background.run(() -> failRepeatedly(together, () -> CLOSE.callInt(-1),
                Rdma.EBADF()));
                Background<Void> other = Background.run(() -> failRepeatedly(together, () -> EVENTFD.callInt(0, -1),
                        Rdma.EINVAL()))) {
            one.result();
            other.result();
        }
    }

    @FunctionalInterface
    private interface Failing {
        int call() throws RdmaException;
    }

    /** Both threads call, then both look. */
    private static void failRepeatedly(CyclicBarrier together, Failing function, int errno) throws Exception {
        for (int i = 0; i < 100; i++) {
            assertThat(function.call()).isEqualTo(-1);
            together.await();
            assertThat(Errno.last()).isEqualTo(errno);
            together.await();
        }
    }
}
