// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;

import io.rdmacm.verbs.testing.Tiers;
import org.junit.jupiter.api.Test;

/** The names of test classes tell their tier. */
class TiersTest {
    @Test
    void theNamesOfThisModule() throws IOException {
        assertThat(Tiers.violations()).isEmpty();
    }
}
