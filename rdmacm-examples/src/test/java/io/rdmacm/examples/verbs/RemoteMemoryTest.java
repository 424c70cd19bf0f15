// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import org.junit.jupiter.api.Test;

class RemoteMemoryTest {
    @Test
    void travelsAsText() throws Exception {
        RemoteMemory memory = new RemoteMemory(0xf000_0000_0000_0001L, 0x8000_0002);
        assertThat(memory.toText()).isEqualTo("f00000000000000180000002").hasSize(RemoteMemory.BYTES);
        assertThat(RemoteMemory.of(memory.toText())).isEqualTo(memory);
        assertThatIOException().isThrownBy(() -> RemoteMemory.of("f0000000000000018000000x"));
    }
}
