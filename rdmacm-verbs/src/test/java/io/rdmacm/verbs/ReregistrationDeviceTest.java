// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Regions that change while they are there: what peers may do afterwards; and a device that cannot do it. */
@RequiresRdma(connectedByHand = true)
class ReregistrationDeviceTest {
    private TrafficEnd client;
    private TrafficEnd server;

    @BeforeEach
    void open() throws RdmaException {
        TrafficEnd[] ends = TrafficEnd.connected(new TrafficEnd.Builder());
        client = ends[0];
        server = ends[1];
    }

    @AfterEach
    void close() throws RdmaException {
        client.close();
        server.close();
    }

    private void change(Reregistration change) throws RdmaException {
        try {
            server.region.reregister(change);
        } catch (RdmaUnsupportedException e) {
            Assumptions.abort("the device cannot change regions: " + e.getMessage());
        }
    }

    private WorkCompletionStatus write() throws Exception {
        client.fill(0, TrafficEnd.SIZE, 5);
        client.pair.postSend(client.send.rdmaWrite(server.address(0), server.region.remoteKey())
                .data(client.region, 0, TrafficEnd.SIZE));
        return client.completion().status();
    }

    @Test
    @Covers("ibv_rereg_mr")
    void aDeviceThatCannotChangesNothing() throws Exception {
        Set<AccessFlag> access = server.region.access();
        try {
            server.region.reregister(Reregistration.builder().access(AccessFlag.LOCAL_WRITE).build());
            Assumptions.abort("the device can change regions");
        } catch (RdmaUnsupportedException e) {
            assertThat(e.function()).isEqualTo("ibv_rereg_mr");
        }
        assertThat(server.region.access()).isEqualTo(access);
        assertThat(write()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(server.bytes(0, TrafficEnd.SIZE)).containsOnly(5);
    }

    @Test
    @DisplayName("MRTest.test_mr_rereg_access")
    @Covers("ibv_rereg_mr")
    void otherAccess() throws Exception {
        change(Reregistration.builder().access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE).build());
        assertThat(write()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    @DisplayName("MRTest.test_mr_rereg_access_bad_flow")
    @Covers("ibv_rereg_mr")
    void lessAccess() throws Exception {
        assertThat(write()).isEqualTo(WorkCompletionStatus.SUCCESS);
        change(Reregistration.builder().access(AccessFlag.LOCAL_WRITE).build());
        assertThat(write()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    @DisplayName("MRTest.test_mr_rereg_pd")
    @Covers("ibv_rereg_mr")
    void anotherDomain() throws Exception {
        assertThat(write()).isEqualTo(WorkCompletionStatus.SUCCESS);
        try (ProtectionDomain other = server.context.allocateProtectionDomain()) {
            ProtectionDomain before = server.domain;
            change(Reregistration.builder().protectionDomain(other).build());
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(other::close);
            assertThat(write()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            change(Reregistration.builder().protectionDomain(before).build());
        }
    }

    @Test
    @DisplayName("MRTest.test_mr_rereg_addr")
    @Covers("ibv_rereg_mr")
    void otherMemory() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(TrafficEnd.SIZE, 4096);
            change(Reregistration.builder().memory(memory).build());
            assertThat(write()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(5);
            server.region.close();
        }
    }
}
