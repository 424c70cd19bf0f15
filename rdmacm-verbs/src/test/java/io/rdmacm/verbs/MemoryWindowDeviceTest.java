// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.driver.ContextOps;
import io.rdmacm.verbs.internal.ffi.Errno;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Peers write through memory windows, and no longer when these were taken away. */
@RequiresRdma(connectedByHand = true)
class MemoryWindowDeviceTest {
    private static final int SIZE = 1024;
    private static final int ROUNDS = 10;

    /** An end with a region, and a window over all of it. */
    private static final class Player implements AutoCloseable {
        final TrafficEnd end;
        final MemoryRegion region;
        final MemoryWindow window;
        final MemoryWindowBinding binding;

        Player(TrafficEnd end, MemoryWindowType type) throws RdmaException {
            this.end = end;
            region = end.domain.allocate(SIZE, AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND);
            try {
                window = end.domain.allocateMemoryWindow(type);
            } catch (RdmaUnsupportedException e) {
                region.close();
                Assumptions.abort("the device has no memory windows of " + type + ": " + e.getMessage());
                throw e;
            }
            binding = MemoryWindowBinding.of(region, 0, SIZE, AccessFlag.REMOTE_WRITE);
        }

        WorkCompletionStatus run(SendRequest request) throws Exception {
            end.pair.postSend(request);
            return end.completion().status();
        }

        WorkCompletionStatus writeTo(Player peer, byte value) throws Exception {
            region.memory().fill(value);
            return run(request().rdmaWrite(peer.window.remoteMemory()).data(region, 0, SIZE));
        }

        @Override
        public void close() throws RdmaException {
            window.close();
            region.close();
        }
    }

    private TrafficEnd[] ends;

    private Player client;
    private Player server;

    @AfterEach
    void close() throws RdmaException {
        if (client != null) {
            client.close();
        }
        if (server != null) {
            server.close();
        }
        for (TrafficEnd end : ends) {
            end.close();
        }
    }

    private static SendRequest request() {
        return SendRequests.allocate(1, 1).get(0);
    }

    @BeforeEach
    void open() throws RdmaException {
        ends = TrafficEnd.connected(new TrafficEnd.Builder());
    }

    private void connect(MemoryWindowType type) throws Exception {
        client = new Player(ends[0], type);
        server = new Player(ends[1], type);
    }

    private void bindType1() throws Exception {
        connect(MemoryWindowType.TYPE_1);
        for (Player player : new Player[] {client, server}) {
            player.window.bind(player.end.pair, 5, player.binding);
            WorkCompletion done = player.end.success();
            assertThat(done.workRequestId()).isEqualTo(5);
            assertThat(done.opcode()).isEqualTo(WorkCompletionOpcode.BIND_MW);
        }
    }

    private void bindType2() throws Exception {
        connect(MemoryWindowType.TYPE_2);
        for (Player player : new Player[] {client, server}) {
            int key = MemoryWindow.incrementKey(player.window.remoteKey());
            SendRequest bind = request().bindMemoryWindow(player.window, key, player.binding);
            assertThat(player.run(bind)).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(player.window.remoteKey()).isEqualTo(key);
        }
    }

    private void assertTraffic() throws Exception {
        for (byte i = 1; i <= ROUNDS; i++) {
            assertThat(client.writeTo(server, i)).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(server.region.memory().toArray(ValueLayout.JAVA_BYTE)).containsOnly(i);
            assertThat(server.writeTo(client, (byte) -i)).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(client.region.memory().toArray(ValueLayout.JAVA_BYTE)).containsOnly(-i);
        }
    }

    private void assertNoAccess() throws Exception {
        server.region.memory().fill((byte) 0);
        client.region.memory().fill((byte) 99);
        assertThat(client.run(request().rdmaWrite(server.binding.remoteAddress(), server.window.remoteKey())
                .data(client.region, 0, SIZE))).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(server.region.memory().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    @Test
    @DisplayName("MWTest.test_mw_type1")
    @Covers({"ibv_alloc_mw", "ibv_bind_mw", "ibv_dealloc_mw"})
    void type1() throws Exception {
        bindType1();
        assertTraffic();
        assertThatThrownBy(server.region::close).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("MemoryWindow");
    }

    @Test
    @DisplayName("MWTest.test_invalidate_mw_type1")
    @Covers("ibv_bind_mw")
    void type1Unbound() throws Exception {
        bindType1();
        assertTraffic();
        server.window.unbind(server.end.pair, 6);
        assertThat(server.end.success().workRequestId()).isEqualTo(6);
        assertNoAccess();
    }

    @Test
    @DisplayName("MWTest.test_mw_type2")
    @Covers({"ibv_alloc_mw", "ibv_post_send", "ibv_inc_rkey"})
    void type2() throws Exception {
        bindType2();
        assertTraffic();
    }

    @Test
    @DisplayName("MWTest.test_mw_type2_invalidate_local")
    @Covers("ibv_post_send")
    void type2InvalidatedLocally() throws Exception {
        bindType2();
        assertTraffic();
        assertThat(server.run(request().localInvalidate(server.window.remoteKey())))
                .isEqualTo(WorkCompletionStatus.SUCCESS);
        assertNoAccess();
    }

    @Test
    @DisplayName("MWTest.test_mw_type2_invalidate_remote")
    @Covers("ibv_post_send")
    void type2InvalidatedByThePeer() throws Exception {
        bindType2();
        assertTraffic();
        server.end.pair.postReceive(ReceiveRequests.allocate(1, 1).get(0).data(server.region, 0, SIZE));
        assertThat(client.run(request().sendWithInvalidate(server.window.remoteKey())
                .data(client.region, 0, 8))).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(server.end.success().opcode()).isEqualTo(WorkCompletionOpcode.RECV);
        assertNoAccess();
    }

    @Test
    @DisplayName("MWTest.test_mw_type2_invalidate_dealloc")
    @Covers("ibv_dealloc_mw")
    void type2Deallocated() throws Exception {
        bindType2();
        assertTraffic();
        int key = server.window.remoteKey();
        server.window.close();
        assertThat(client.run(request().rdmaWrite(server.binding.remoteAddress(), key)
                .data(client.region, 0, SIZE))).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        server.region.close();
    }

    @Test
    @DisplayName("MWTest.test_reg_mw_wrong_type")
    @Covers("ibv_alloc_mw")
    void aWrongTypeIsRefused() throws Exception {
        // No program can ask for it: below the API, C refuses it too.
        NativeFunction alloc = NativeFunction.at("ibv_alloc_mw",
                ContextOps.ALLOC_MW.of(ends[0].context.handle().address()));
        assertThat(alloc.callLong(ends[0].domain.handle().address(), 3)).isZero();
        assertThat(Errno.last()).isEqualTo(Rdma.EINVAL());
    }

    @Test
    @Covers("ibv_post_send")
    void aBindWithTheKeyThatItHasFailsAndLeavesTheWindowUsable() throws Exception {
        bindType2();
        WorkCompletionStatus status = server.run(request()
                .bindMemoryWindow(server.window, server.window.remoteKey(), server.binding));
        // SoftRoCE of Linux 7.2 flushes what it refuses; that of 6.1 names the fault
        assertThat(status).isIn(WorkCompletionStatus.MW_BIND_ERR, WorkCompletionStatus.LOC_QP_OP_ERR,
                WorkCompletionStatus.WR_FLUSH_ERR);
    }
}
