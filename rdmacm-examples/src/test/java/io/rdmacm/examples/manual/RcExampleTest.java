// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What the two sides of rc_example exchange over TCP. */
class RcExampleTest {
    @Test
    void addressTravelsInNetworkByteOrder() {
        byte[] bytes = new byte[RcAddress.BYTES];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i + 1);
        }
        RcAddress address = RcAddress.of(bytes);
        assertThat(address.memory()).isEqualTo(0x0102030405060708L);
        assertThat(address.key()).isEqualTo(0x090a0b0c);
        assertThat(address.queuePair()).isEqualTo(0x0d0e0f10);
        assertThat(address.lid()).isEqualTo(0x1112);
        assertThat(address.gid().toBytes()).startsWith(0x13, 0x14).endsWith(0x22);
        assertThat(address.toBytes()).isEqualTo(bytes);
    }
}
