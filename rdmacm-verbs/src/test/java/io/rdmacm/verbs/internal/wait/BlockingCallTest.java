// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Linker;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.Test;

/** A call that may block: where it runs, and that nothing of its outcome is lost on the way. */
class BlockingCallTest {
    private static final long CLOSE = Linker.nativeLinker().defaultLookup().findOrThrow("close").address();

    @Test
    void aPlatformThreadCallsItself() throws Exception {
        Thread me = Thread.currentThread();
        BlockingCall call = BlockingCall.of(() -> {
            assertThat(Thread.currentThread()).isSameAs(me);
            return NativeFunction.at("close", CLOSE).callInt(-1);
        });
        assertThat(call).isEqualTo(new BlockingCall(-1, Rdma.EBADF()));
    }

    @Test
    void aVirtualThreadLeavesItToAPlatformThread() throws Exception {
        NativeFunction close = NativeFunction.at("close", CLOSE);
        BlockingCall call = run(true, () -> {
            assertThat(Thread.currentThread().isVirtual()).isFalse();
            return close.callInt(-1);
        });
        assertThat(call).isEqualTo(new BlockingCall(-1, Rdma.EBADF()));
    }

    @Test
    void whatTheCallThrowsIsThrown() {
        RdmaException failure = new RdmaException("f", "no");
        IllegalStateException misuse = new IllegalStateException("no");
        for (boolean virtual : new boolean[] {false, true}) {
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> run(virtual, () -> {
                throw failure;
            })).isSameAs(failure);
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> run(virtual, () -> {
                throw misuse;
            })).isSameAs(misuse);
        }
    }

    private static BlockingCall run(boolean virtual, BlockingCall.Call call) throws Exception {
        Callable<BlockingCall> task = () -> BlockingCall.of(call);
        return (virtual ? Background.virtual(task) : Background.call(task)).result();
    }

    /** C may be using the memory of the caller. */
    @Test
    void anInterruptDoesNotEndTheCallAndIsKeptForLater() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (Background<Boolean> caller = Background.virtual(() -> {
            BlockingCall call = BlockingCall.of(() -> {
                awaitUninterrupted(end);
                return 7;
            });
            assertThat(call.value()).isEqualTo(7);
            return Thread.interrupted();
        })) {
            caller.awaitInside(BlockingCall.class, "result").awaitWaiting();
            caller.interrupt();
            end.countDown();
            assertThat(caller.result()).isTrue();
        }
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
