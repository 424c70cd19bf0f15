// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

import io.rdmacm.bindings.Rdma;
import org.junit.jupiter.api.Test;

/** Rates by their codes, those that are newer than this library too. */
class RateTest {
    @Test
    void theKnownRatesAreThoseOfTheHeader() throws ReflectiveOperationException {
        Map<String, Integer> constants = new HashMap<>();
        for (var method : Arrays.stream(Rdma.class.getMethods())
                .filter(m -> m.getName().startsWith("IBV_RATE_")).toList()) {
            constants.put(method.getName().substring("IBV_".length()), (Integer) method.invoke(null));
        }
        assertThat(Rate.known()).hasSize(constants.size());
        for (Rate rate : Rate.known()) {
            assertThat(rate.value()).describedAs(rate.toString()).isEqualTo(constants.get(rate.toString()));
            assertThat(Rate.of(rate.value())).isSameAs(rate);
        }
        assertThat(Rate.of(0)).isSameAs(Rate.RATE_MAX);
    }

    @Test
    void everyCodeHasOneRate() {
        for (int code = 0; code < 256; code++) {
            assertThat(Rate.of(code).value()).isEqualTo(code);
            assertThat(Rate.of(code)).isSameAs(Rate.of(code));
        }
        assertThat(Rate.of(200)).hasToString("unknown rate (code 200)").isNotEqualTo(Rate.RATE_MAX);
        assertThat(Rate.known()).doesNotContain(Rate.of(200));
    }

    @Test
    void codesHaveEightBits() {
        for (int wrong : new int[] {-1, 256, Integer.MIN_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> Rate.of(wrong))
                    .withMessage("the code of the rate must be from 0 to 255, not " + wrong);
        }
    }
}
