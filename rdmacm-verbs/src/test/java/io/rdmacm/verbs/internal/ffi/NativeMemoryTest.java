// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.forked.ExhaustNativeMemory;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.Test;

/** Native memory that cannot be had is a failure of one call, not of a thread. */
@WithFakeVerbs
class NativeMemoryTest {
    @Test
    void itSaysWhatItWasNeededFor() {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> NativeMemory.allocate("ibv_reg_mr", Long.MAX_VALUE / 4, 1))
                .withMessageStartingWith("ibv_reg_mr (native memory, see -XX:MaxDirectMemorySize): ENOMEM")
                .withCauseInstanceOf(OutOfMemoryError.class);
    }

    /** As an aarch64 may have them: its device refuses a region at address 0 that does not begin with a page. */
    @Test
    void pagesMayBeLargerThanOnMostMachines() throws Exception {
        NativeMemory.pageSize = 1 << 22;
        try (FakeStack stack = new FakeStack();
                MemoryRegion region = stack.domain().allocate(64, AccessFlag.ZERO_BASED);
                RegisteredPool pool = RegisteredPool.create(stack.domain(), 64);
                RegisteredSlice slice = pool.take()) {
            assertThat(region.memory().address() % NativeMemory.pageSize).isZero();
            assertThat(slice.region().memory().address() % NativeMemory.pageSize).isZero();
        } finally {
            NativeMemory.pageSize = Libc.pageSize();
        }
    }

    @Test
    void anObjectThatCannotBeMadeLeavesNothing() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(ExhaustNativeMemory.class).nativeAccess()
                .options("-XX:MaxDirectMemorySize=4m").run();
        assertThat(result.output().lines()).describedAs(result.errors())
                .containsExactly("ENOMEM", "all is well");
    }
}
