// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** GUIDs as text. */
class GuidTest {
    @Test
    void theTextIsThatOfTheTools() {
        assertThat(new Guid(0x0002_c903_00a0_b1c2L)).hasToString("0002:c903:00a0:b1c2");
        assertThat(new Guid(0).isZero()).isTrue();
        assertThat(new Guid(1L << 63).isZero()).isFalse();
    }
}
