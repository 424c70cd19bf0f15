// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.CompletionField;
import io.rdmacm.verbs.work.WorkCompletionFlag;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * The peer's cases of tag matching, under their names: the client's messages begin with a header that names a tag, the
 * server's device puts them where a buffer of that tag is. Both use the beginning of their region for all of it.
 */
@RequiresRdma
class TagMatchingDeviceTest {
    private static final int LENGTH = 1024;
    private static final int TAGS = 9;
    private static final int MASK = 0xffff;
    private static final int OTHER_TAG = 0x1234;
    private static final int SYNC_ID = 27;
    // devices begin to match with so many receives
    private static final int RECEIVES = 33;
    private static final int OPERATIONS = 10;

    // struct ibv_tmh and struct ibv_rvh of infiniband/tm_types.h
    private static final int HEADER = 16;
    private static final byte NO_TAG = 0;
    private static final byte RENDEZVOUS = 1;
    private static final byte EAGER = 3;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final TagOperations operations = TagOperations.allocate(1, 1);
    private DeviceAttributesEx.TagMatching capabilities;
    private TrafficEnd client;
    private TrafficEnd server;
    private int unexpected;

    @BeforeEach
    void open() throws RdmaException {
        try (VerbsContext context = TrafficEnd.openDevice()) {
            capabilities = context.queryDeviceEx().tagMatching();
        }
        Assumptions.assumeTrue(capabilities.reliableConnection(), "the device has no tag matching over reliable"
                + " connections: " + capabilities);
        TrafficEnd[] ends = TrafficEnd.connected(new TrafficEnd.Builder().depth(2 * RECEIVES).extendedQueue(true),
                new TrafficEnd.Builder().depth(2 * RECEIVES).receiveOnly().extendedQueue(CompletionField.TM_INFO)
                        .sharedReceiveQueue((end, usual) -> usual.tagMatching(end.queue, capabilities.maxTags(),
                                OPERATIONS)));
        client = ends[0];
        server = ends[1];
        for (int i = 0; i < RECEIVES; i++) {
            client.postReceive(0, LENGTH);
            server.postReceive(0, LENGTH);
        }
    }

    @AfterEach
    void close() throws RdmaException {
        if (client != null) {
            client.close();
            server.close();
        }
    }

    /** What a completion of the server is compared with. */
    private record Seen(WorkCompletionOpcode opcode, long id, Set<WorkCompletionFlag> flags, long tag) {
    }

    private Seen serverCompletion() throws Exception {
        try (CompletionCursor cursor = ((ExtendedCompletionQueue) server.queue).awaitPoll(TrafficEnd.TIMEOUT)) {
            assertThat(cursor.next()).isTrue();
            cursor.check();
            return new Seen(cursor.opcode(), cursor.workRequestId(), cursor.flags(), cursor.tag());
        }
    }

    private void postOperation(TagOperation operation, long id) throws RdmaException {
        operation.id(id).signaled(true).unexpectedCount(unexpected);
        server.shared.postOperations(operations, 0, 1);
    }

    /** Tells the device what the program has seen: until then it matches no new tags. */
    private void synchronise() throws Exception {
        postOperation(operations.get(0).sync(), SYNC_ID);
        Seen seen = serverCompletion();
        assertThat(seen.opcode()).isEqualTo(WorkCompletionOpcode.TM_SYNC);
        assertThat(seen.id()).isEqualTo(SYNC_ID);
    }

    private void addTag(int tag) throws Exception {
        postOperation(operations.get(0).add(tag, tag, MASK).data(0, server.region, 0, LENGTH), tag);
        Seen seen = serverCompletion();
        assertThat(seen.opcode()).isEqualTo(WorkCompletionOpcode.TM_ADD);
        assertThat(seen.id()).isEqualTo(tag);
        if (seen.flags().contains(WorkCompletionFlag.TM_SYNC_REQ)) {
            synchronise();
        }
    }

    /** Sends a message with a header. */
    private void send(byte operation, long tag) throws Exception {
        MemorySegment memory = client.region.memory();
        memory.asSlice(0, LENGTH).fill((byte) 'c');
        memory.asSlice(0, HEADER).fill((byte) 0);
        memory.set(ValueLayout.JAVA_BYTE, 0, operation);
        memory.set(LONG, 8, tag);
        int length = LENGTH;
        if (operation == RENDEZVOUS) {
            memory.set(LONG, HEADER, client.address(0));
            memory.set(INT, HEADER + 8, client.region.remoteKey());
            memory.set(INT, HEADER + 12, LENGTH);
            length = Math.min(capabilities.maxRendezvousHeader(), LENGTH);
            // the server says in a message that it has read the data
            client.postReceive(tag, LENGTH);
        }
        client.postSend(0, length, false, 0);
        client.success();
    }

    private void assertArrived(boolean withHeader) {
        MemorySegment sent = client.region.memory().asSlice(0, LENGTH);
        MemorySegment expected = withHeader ? sent : sent.asSlice(HEADER);
        assertThat(server.bytes(0, (int) expected.byteSize())).isEqualTo(expected.toArray(ValueLayout.JAVA_BYTE));
    }

    private void addTags() throws Exception {
        for (int tag = 1; tag <= TAGS; tag++) {
            addTag(tag);
        }
    }

    @Test
    @DisplayName("TMTest.test_tm_traffic")
    @Covers({"ibv_create_srq_ex", "ibv_post_srq_ops", "ibv_wc_read_tm_info"})
    void matched() throws Exception {
        addTags();
        for (int tag = TAGS; tag >= 1; tag--) {
            send(EAGER, tag);
            assertThat(serverCompletion()).isEqualTo(new Seen(WorkCompletionOpcode.TM_RECV, tag,
                    EnumSet.of(WorkCompletionFlag.TM_MATCH, WorkCompletionFlag.TM_DATA_VALID), tag));
            assertArrived(false);
            server.postReceive(0, LENGTH);
        }
    }

    @Test
    @DisplayName("TMTest.test_tm_unexpected_tag")
    @Covers({"ibv_create_srq_ex", "ibv_post_srq_ops", "ibv_wc_read_tm_info"})
    void aTagThatIsNotExpected() throws Exception {
        addTags();
        for (int i = 1; i <= TAGS; i++) {
            send(EAGER, OTHER_TAG);
            assertThat(serverCompletion()).isEqualTo(new Seen(WorkCompletionOpcode.TM_RECV, 0, Set.of(), 0));
            unexpected++;
            synchronise();
            assertArrived(true);
            server.postReceive(0, LENGTH);
        }
    }

    @Test
    @DisplayName("TMTest.test_tm_no_tag")
    @Covers({"ibv_create_srq_ex", "ibv_post_srq_ops", "ibv_wc_read_tm_info"})
    void noTag() throws Exception {
        addTags();
        for (int i = 1; i <= TAGS; i++) {
            send(NO_TAG, OTHER_TAG);
            assertThat(serverCompletion()).isEqualTo(new Seen(WorkCompletionOpcode.TM_NO_TAG, 0, Set.of(), 0));
            assertArrived(true);
            server.postReceive(0, LENGTH);
        }
    }

    @Test
    @DisplayName("TMTest.test_tm_rndv")
    @Covers({"ibv_create_srq_ex", "ibv_post_srq_ops", "ibv_wc_read_tm_info"})
    void rendezvous() throws Exception {
        addTags();
        for (int tag = TAGS; tag >= 1; tag--) {
            send(RENDEZVOUS, tag);
            assertThat(serverCompletion()).isEqualTo(new Seen(WorkCompletionOpcode.TM_RECV, tag,
                    EnumSet.of(WorkCompletionFlag.TM_MATCH), tag));
            assertThat(client.success().opcode()).isEqualTo(WorkCompletionOpcode.RECV);
            assertThat(serverCompletion()).isEqualTo(new Seen(WorkCompletionOpcode.TM_RECV, tag,
                    EnumSet.of(WorkCompletionFlag.TM_DATA_VALID), 0));
            assertArrived(true);
            server.postReceive(0, LENGTH);
        }
    }
}
