// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

import org.junit.jupiter.api.Test;

class PageMarksTest {
    @Test
    void eachPageHasItsMark() throws IOException {
        // enough for two pages, whatever their size
        byte[] bytes = new byte[70_000];
        MemorySegment data = MemorySegment.ofArray(bytes);
        PageMarks.erase(data);
        assertThat(bytes).containsOnly(0x7b);
        assertThatIOException().isThrownBy(() -> PageMarks.check(data)).withMessage("invalid data in page 0");
        PageMarks.write(data);
        PageMarks.check(data);
        int page = 1;
        while (bytes[page] != 0) {
            page++;
        }
        assertThat(Integer.bitCount(page)).isEqualTo(1);
        bytes[page] = 1;
        assertThatIOException().isThrownBy(() -> PageMarks.check(data)).withMessage("invalid data in page 1");
    }
}
