// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.ibv_recv_wr;
import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The setters write the bytes that a C program writes. */
@WithFakeVerbs
class ReceiveRequestTest {
    private static final long ID = 0xf123456789abcdefL;

    private final ReceiveRequests block = ReceiveRequests.allocate(3, 2);
    private final ReceiveRequest request = block.get(1);
    private FakeStack stack;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    private void assertAsInC(long id, int entries) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment expected = ibv_recv_wr.allocate(arena);
            long list = block.memory().address() + 3 * ibv_recv_wr.sizeof() + 2 * ibv_sge.sizeof();
            FakeVerbs.call("oracle_receive", expected.address(), id, list, entries);
            MemorySegment struct = block.memory().asSlice(ibv_recv_wr.sizeof(), ibv_recv_wr.sizeof());
            assertThat(struct.mismatch(expected)).isEqualTo(-1);
        }
    }

    @Test
    void theStructIsWrittenAsInC() {
        assertAsInC(0, 0);
        assertThat(request.id(ID).data(stack.region(), 8, 16)).isSameAs(request);
        assertAsInC(ID, 1);
        request.data(1, stack.region(), 100, 200);
        assertAsInC(ID, 2);
        request.data(0, stack.region(), 100, 200);
        assertAsInC(ID, 1);
        request.noData();
        assertAsInC(ID, 0);
    }

    @Test
    void theScatterListIsWrittenAsInC() {
        request.data(0, stack.region(), 8, 16).data(1, stack.region(), 4095, 1);
        long lists = 3 * ibv_recv_wr.sizeof() + 2 * ibv_sge.sizeof();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment expected = ibv_sge.allocateArray(2, arena);
            long start = stack.region().memory().address();
            int key = stack.region().localKey();
            FakeVerbs.call("oracle_entry", expected.address(), start + 8, 16, key);
            FakeVerbs.call("oracle_entry", expected.address() + ibv_sge.sizeof(), start + 4095, 1, key);
            assertThat(block.memory().asSlice(lists, 2 * ibv_sge.sizeof()).mismatch(expected)).isEqualTo(-1);
        }
    }

    @Test
    void wrongEntriesAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> request.data(1, stack.region(), 0, 1));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> request.data(stack.region(), 4096, 1));
        request.data(0, stack.region(), 0, 1).data(1, stack.region(), 0, 1);
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> request.data(2, stack.region(), 0, 1));
        assertAsInC(0, 2);
    }

    @Test
    void aBlockNeedsRoom() {
        assertThatIllegalArgumentException().isThrownBy(() -> ReceiveRequests.allocate(0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> ReceiveRequests.allocate(1, 0));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> block.get(3));
        assertThat(block.capacity()).isEqualTo(3);
        assertThat(block.maxScatterGather()).isEqualTo(2);
    }
}
