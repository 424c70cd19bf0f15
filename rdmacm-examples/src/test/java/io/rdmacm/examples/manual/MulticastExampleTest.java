// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.junit.jupiter.api.Test;

/** The messages of multicast_example. */
class MulticastExampleTest {
    @Test
    void changedMessagesAreDetected() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(64);
            Datagram.fill(message, 7);
            assertThat(Datagram.check(message)).isEqualTo(7);
            assertThatThrownBy(() -> Datagram.check(message.asSlice(0, 63))).isInstanceOf(IOException.class);
            for (int i = 8; i < 64; i++) {
                byte right = message.get(ValueLayout.JAVA_BYTE, i);
                message.set(ValueLayout.JAVA_BYTE, i, (byte) ~right);
                assertThatThrownBy(() -> Datagram.check(message)).hasMessageContaining("message 7 arrived different");
                message.set(ValueLayout.JAVA_BYTE, i, right);
            }
        }
    }
}
