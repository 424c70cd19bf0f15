// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.verbs.forked.LockAtTheEndOfTheStack;
import io.rdmacm.verbs.testing.ForkedJvm;
import org.junit.jupiter.api.Test;

class MixedThreadsLockTest {
    /** Interpreted, because a lock that is compiled may fit where an unlock that is not does not. */
    @Test
    void theEndOfTheStackLeavesNothingLocked() throws Exception {
        lockUntilTheStackEnds("-Xint");
    }

    /** As the classes of an archive are, which the JVM does not verify again. */
    @Test
    void theEndOfTheStackLeavesNothingLockedInClassesThatAreNotVerified() throws Exception {
        lockUntilTheStackEnds("-Xint", "-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote");
    }

    private static void lockUntilTheStackEnds(String... options) throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(LockAtTheEndOfTheStack.class).options(options).run();
        assertThat(result.status()).describedAs(result.errors()).isZero();
    }

    /** As where the stack has ended in an unlock. */
    @Test
    void whatACallOfTheProgramLeavesLockedIsGivenUp() {
        MixedThreadsLock lock = new MixedThreadsLock();
        lock.lock();
        int holds = lock.release();
        assertThat(lock.isLocked()).isFalse();
        lock.lock();
        lock.lock();
        lock.retake(holds);
        assertThat(lock.getHoldCount()).isEqualTo(1);
    }
}
