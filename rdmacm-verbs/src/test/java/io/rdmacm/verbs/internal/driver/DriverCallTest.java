// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Linker;

import org.junit.jupiter.api.Test;

class DriverCallTest {
    private static long address(String function) {
        return Linker.nativeLinker().defaultLookup().find(function).orElseThrow().address();
    }

    @Test
    void eachFunctionIsCalledByTheCallOfIt() {
        for (boolean critical : new boolean[] {false, true}) {
            assertThat(DriverCall.of(address("abs"), critical).call(-7, 0, 0)).isEqualTo(7);
            assertThat(DriverCall.of(address("labs"), critical).callLong(Long.MIN_VALUE + 1, 0, 0, 0, 0))
                    .isEqualTo(Long.MAX_VALUE);
            assertThat(DriverCall.of(address("isdigit"), critical).call('5', 0, 0)).isNotZero();
            assertThat(DriverCall.of(address("isdigit"), critical).call('x', 0, 0)).isZero();
        }
    }

    @Test
    void aFunctionHasOneCallOfEachKind() {
        DriverCall call = DriverCall.of(address("abs"), true);

        assertThat(DriverCall.of(address("abs"), true)).isSameAs(call);
        assertThat(DriverCall.of(address("abs"), false)).isNotSameAs(call);
        assertThat(DriverCall.of(address("labs"), true).getClass()).isNotSameAs(call.getClass());
    }

    @Test
    void aFunctionThatTheDriverLacksIsRefused() {
        DriverCall missing = DriverCall.of(0, true);

        assertThatIllegalArgumentException().isThrownBy(() -> missing.call(1, 2, 3))
                .withMessage("the driver does not have this function");
        assertThatIllegalArgumentException().isThrownBy(() -> missing.callLong(1, 2, 3, 4, 5))
                .withMessage("the driver does not have this function");
    }
}
