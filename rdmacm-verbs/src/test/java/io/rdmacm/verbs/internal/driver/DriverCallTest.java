// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Linker;
import java.util.List;

import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.Test;

class DriverCallTest {
    private static long address(String function) {
        return Linker.nativeLinker().defaultLookup().find(function).orElseThrow().address();
    }

    @Test
    void eachFunctionIsCalledByTheCallOfIt() {
        for (boolean critical : new boolean[] {false, true}) {
            assertThat((int) DriverCall.of(address("abs"), critical, 1).call(-7)).isEqualTo(7);
            // what a function does not need, it ignores
            assertThat(DriverCall.of(address("labs"), critical, 2).call(-7, 1)).isEqualTo(7);
            assertThat(DriverCall.of(address("labs"), critical, 3).call(-7, 1, 2)).isEqualTo(7);
            assertThat(DriverCall.of(address("labs"), critical, 4).call(-7, 1, 2, 3)).isEqualTo(7);
            assertThat(DriverCall.of(address("labs"), critical, 5).call(Long.MIN_VALUE + 1, 1, 2, 3, 4))
                    .isEqualTo(Long.MAX_VALUE);
            assertThat(DriverCall.of(address("labs"), critical, 6).call(Long.MIN_VALUE + 1, 1, 2, 3, 4, 5))
                    .isEqualTo(Long.MAX_VALUE);
            assertThat((int) DriverCall.of(address("isdigit"), critical, 1).call('5')).isNotZero();
            assertThat((int) DriverCall.of(address("isdigit"), critical, 1).call('x')).isZero();
        }
    }

    @Test
    void whereNoClassCanBeDefinedTheHandleIsCalled() {
        for (boolean critical : new boolean[] {false, true}) {
            assertThat((int) new HandleDriverCall(address("abs"), critical, 1).call(-7)).isEqualTo(7);
            assertThat(new HandleDriverCall(address("labs"), critical, 2).call(-7, 1)).isEqualTo(7);
            assertThat(new HandleDriverCall(address("labs"), critical, 3).call(-7, 1, 2)).isEqualTo(7);
            assertThat(new HandleDriverCall(address("labs"), critical, 4).call(-7, 1, 2, 3)).isEqualTo(7);
            assertThat(new HandleDriverCall(address("labs"), critical, 5).call(-7, 1, 2, 3, 4)).isEqualTo(7);
            assertThat(new HandleDriverCall(address("labs"), critical, 6).call(-7, 1, 2, 3, 4, 5)).isEqualTo(7);
        }
    }

    @Test
    void aFunctionHasOneCallOfEachKind() {
        DriverCall call = DriverCall.of(address("abs"), true, 1);

        assertThat(DriverCall.of(address("abs"), true, 1)).isSameAs(call);
        assertThat(DriverCall.of(address("abs"), false, 1)).isNotSameAs(call);
        assertThat(DriverCall.of(address("abs"), true, 2)).isNotSameAs(call);
        assertThat(DriverCall.of(address("labs"), true, 1).getClass()).isNotSameAs(call.getClass());
    }

    @Test
    void aFunctionThatTheDriverLacksIsRefused() {
        DriverCall missing = DriverCall.of(0, true, 3);

        List<ThrowableAssert.ThrowingCallable> calls = List.of(() -> missing.call(1), () -> missing.call(1, 2),
                () -> missing.call(1, 2, 3), () -> missing.call(1, 2, 3, 4), () -> missing.call(1, 2, 3, 4, 5),
                () -> missing.call(1, 2, 3, 4, 5, 6));
        for (ThrowableAssert.ThrowingCallable call : calls) {
            assertThatIllegalArgumentException().isThrownBy(call)
                    .withMessage("the driver does not have this function");
        }
    }
}
