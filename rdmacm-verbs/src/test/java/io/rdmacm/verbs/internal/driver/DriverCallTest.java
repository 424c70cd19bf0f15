// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Linker;

import io.rdmacm.verbs.internal.ffi.Downcalls;
import org.junit.jupiter.api.Test;

class DriverCallTest {
    private static long address(String function) {
        return Linker.nativeLinker().defaultLookup().find(function).orElseThrow().address();
    }

    private static long call(DriverCall function, long argument) {
        // what a function does not need, it ignores
        return function.call(argument, 1, 2, 3, 4, 5);
    }

    @Test
    void eachFunctionIsCalledByTheCallOfIt() {
        for (boolean critical : new boolean[] {false, true}) {
            assertThat((int) call(DriverCall.of(address("abs"), critical), -7)).isEqualTo(7);
            assertThat(call(DriverCall.of(address("labs"), critical), Long.MIN_VALUE + 1)).isEqualTo(Long.MAX_VALUE);
            assertThat((int) call(DriverCall.of(address("isdigit"), critical), '5')).isNotZero();
            assertThat((int) call(DriverCall.of(address("isdigit"), critical), 'x')).isZero();
        }
    }

    @Test
    void whereNoClassCanBeDefinedTheHandleIsCalled() {
        for (boolean critical : new boolean[] {false, true}) {
            assertThat((int) call(new HandleDriverCall(address("abs"), Downcalls.plain(critical, 4)), -7)).isEqualTo(7);
            assertThat(call(new HandleDriverCall(address("labs"), Downcalls.plain(critical, 6)), -7)).isEqualTo(7);
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
        assertThatIllegalArgumentException().isThrownBy(() -> call(DriverCall.of(0, true), 1))
                .withMessage("the driver does not have this function");
    }
}
