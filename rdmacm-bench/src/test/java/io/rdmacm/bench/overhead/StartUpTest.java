// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class StartUpTest {
    @Test
    void aJvmPostsItsFirstRequest() throws Exception {
        String missing = NativeSide.missing();
        Assumptions.assumeTrue(missing == null, missing);
        assertThat(StartUp.millis()).isPositive();
    }
}
