// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sends that the device cuts into packets, by ibv_post_send: what the driver reads, and what does not reach it. */
@WithFakeVerbs
class TsoTest {
    private static final int MAX_HEADER = 54;
    private static final int SEGMENT = 0xfedc;

    private final SendRequests block = SendRequests.allocate(1, 1);
    private final SendRequest request = block.get(0).id(7);
    private FakeStack stack;
    private QueuePair pair;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.call("fake_equip_queue_pairs", stack.context().handle().address());
        pair = make(QueuePairType.RAW_PACKET);
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        pair.close();
        stack.close();
    }

    private QueuePair make(QueuePairType type) throws RdmaException {
        return stack.domain().createQueuePair(QueuePairInitAttributes.builder().type(type)
                .completionQueue(stack.queue()).maxTsoHeader(MAX_HEADER).build());
    }

    private static MemorySegment headers(int bytes) {
        byte[] array = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            array[i] = (byte) (i + 1);
        }
        return MemorySegment.ofArray(array);
    }

    /** The request as C fills it in, then what the driver reads besides: the scatter list, and the headers. */
    private byte[] oracle(MemorySegment posted, MemorySegment headers) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wr = arena.allocate(ibv_send_wr.layout());
            MemorySegment entry = arena.allocate(ibv_sge.layout());
            FakeVerbs.call("oracle_send_tso", wr.address(), ibv_send_wr.sg_list(posted).address(),
                    ibv_send_wr.tso.hdr(ibv_send_wr.tso(posted)).address(), headers.byteSize(), SEGMENT);
            ibv_send_wr.wr_id(wr, 7);
            FakeVerbs.call("oracle_entry", entry.address(), stack.region().memory().address() + 16, 2000,
                    stack.region().localKey());
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            for (MemorySegment part : new MemorySegment[] {wr, entry, headers}) {
                bytes.writeBytes(part.toArray(ValueLayout.JAVA_BYTE));
            }
            return bytes.toByteArray();
        }
    }

    private static byte[] posted() {
        return FakeVerbs.calls("post_send").getLast().data();
    }

    private void assertPosted(MemorySegment headers) {
        byte[] posted = posted();
        MemorySegment copy = Arena.ofAuto().allocate(posted.length, Long.BYTES).copyFrom(
                MemorySegment.ofArray(posted));
        assertThat(HexFormat.of().formatHex(posted)).isEqualTo(HexFormat.of().formatHex(oracle(copy, headers)));
    }

    @Test
    @Covers("ibv_post_send")
    void headersAndSizesAreThoseOfC() throws RdmaException {
        MemorySegment headers = headers(MAX_HEADER);
        assertThat(request.tso(headers, SEGMENT).data(stack.region(), 16, 2000)).isSameAs(request);
        MemorySegment expected = headers(MAX_HEADER);
        headers.fill((byte) 0);
        pair.postSend(request);
        assertPosted(expected);

        // shorter ones go where the longer ones were, longer ones elsewhere
        request.tso(expected.asSlice(4, 14), SEGMENT);
        pair.postSend(request);
        assertPosted(expected.asSlice(4, 14));
        request.tso(headers(20), SEGMENT);
        pair.postSend(request);
        assertPosted(headers(20));
    }

    @Test
    void whatDoesNotFitIsRefusedBeforeC() throws RdmaException {
        for (int size : new int[] {0, -1, 1 << 16}) {
            assertThatIllegalArgumentException().isThrownBy(() -> request.tso(headers(1), size))
                    .withMessage("the maximum segment size must be from 1 to 65535, not " + size);
        }
        assertThatIllegalArgumentException().isThrownBy(() -> request.tso(headers(1 << 16), 1))
                .withMessageContaining("at most 65535 bytes, not 65536");

        request.tso(headers(MAX_HEADER + 1), 1);
        assertThatIllegalArgumentException().isThrownBy(() -> pair.postSend(request))
                .withMessage("the headers have 55 bytes; the queue pair allows 54");
        request.tso(headers(1), 1);
        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().postSend(request))
                .withMessageContaining("created with maxTsoHeader");
        assertThat(FakeVerbs.calls()).isEmpty();

        stack.queuePair().postSend(request.send());
        assertThat(FakeVerbs.functions()).containsExactly("post_send");
    }

    @Test
    void aRequestOfABlockWhoseInlineDataWasCheckedBeforeIsChecked() throws RdmaException {
        request.inline(true);
        pair.postSend(block, 0, 1);
        request.tso(headers(MAX_HEADER + 1), 1);
        assertThatIllegalArgumentException().isThrownBy(() -> pair.postSend(block, 0, 1))
                .withMessage("the headers have 55 bytes; the queue pair allows 54");
    }

    @Test
    void aDatagramKeepsItsDestination() throws RdmaException {
        AddressHandle handle = stack.domain().createAddressHandle(AddressAttributes.builder().build());
        try (QueuePair datagrams = make(QueuePairType.UD)) {
            request.datagram(handle, 5, 6).tso(headers(8), 9);
            datagrams.postSend(request);
            MemorySegment wr = Arena.ofAuto().allocate(ibv_send_wr.layout())
                    .copyFrom(MemorySegment.ofArray(posted()).asSlice(0, ibv_send_wr.sizeof()));
            MemorySegment address = ibv_send_wr.wr.ud(ibv_send_wr.wr(wr));
            assertThat(ibv_send_wr.opcode(wr)).isEqualTo(Rdma.IBV_WR_TSO());
            assertThat(ibv_send_wr.wr.ud.ah(address)).isEqualTo(handle.handle());
            assertThat(ibv_send_wr.wr.ud.remote_qpn(address)).isEqualTo(5);

            request.tso(headers(8), 9);
            handle.close();
            assertThatIllegalStateException().isThrownBy(() -> datagrams.postSend(request));
        }
    }
}
