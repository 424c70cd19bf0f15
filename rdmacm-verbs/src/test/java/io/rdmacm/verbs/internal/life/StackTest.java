// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.verbs.testing.EndOfStack;
import org.junit.jupiter.api.Test;

class StackTest {
    // so often that the compilers have made all frames as small as they can
    private static final int WARM_UP = 500_000;
    private static final int LEVELS = 60;

    private boolean enough;
    private boolean overflowed;

    @Test
    void whatWasRequiredIsThere() throws Exception {
        for (int i = 0; i < WARM_UP; i++) {
            Stack.require();
            long ignored = take(LEVELS, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        }
        EndOfStack.run(() -> {
            enough = false;
            try {
                Stack.require();
                enough = true;
                long ignored = take(LEVELS, 1, 2, 3, 4, 5, 6, 7, 8, 9);
            } catch (StackOverflowError e) {
                overflowed |= enough;
                throw e;
            }
        });
        assertThat(overflowed).isFalse();
    }

    private static long take(int level, long a, long b, long c, long d, long e, long f, long g, long h, long i) {
        return level == 0 ? a : take(level - 1, b, c, d, e, f, g, h, i, a) + (a ^ b) + (c ^ d) + (e ^ f) + (g ^ h) + i;
    }
}
