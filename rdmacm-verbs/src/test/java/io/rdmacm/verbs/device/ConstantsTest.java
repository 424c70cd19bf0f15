// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.address.GidType;
import io.rdmacm.verbs.address.Rate;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOpcode;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Test;

/** The constants of devices and ports: their texts, and codes that they do not have. */
@WithFakeVerbs
class ConstantsTest {
    @Test
    @Covers({"ibv_node_type_str", "ibv_port_state_str", "ibv_wc_status_str", "ibv_wr_opcode_str"})
    void textsOfConstants() throws RdmaException {
        assertThat(NodeType.RNIC.text()).isEqualTo("ibv_node_type_str " + Rdma.IBV_NODE_RNIC());
        assertThat(NodeType.UNKNOWN.text()).isEqualTo("ibv_node_type_str -1");
        assertThat(PortState.ARMED.text()).isEqualTo("ibv_port_state_str " + Rdma.IBV_PORT_ARMED());
        assertThat(SendOpcode.FLUSH.text()).isEqualTo("ibv_wr_opcode_str " + Rdma.IBV_WR_FLUSH());
        assertThat(WorkCompletionStatus.MW_BIND_ERR.text()).isEqualTo("ibv_wc_status_str " + Rdma.IBV_WC_MW_BIND_ERR());
    }

    @Test
    void unknownCodes() {
        assertThat(NodeType.of(99)).isEqualTo(NodeType.UNKNOWN);
        assertThat(TransportType.of(99)).isEqualTo(TransportType.UNKNOWN);
        assertThat(PortState.of(99)).isEqualTo(PortState.NOP);
        assertThat(LinkLayer.of(99)).isEqualTo(LinkLayer.UNSPECIFIED);
        assertThat(AtomicCapability.of(99)).isEqualTo(AtomicCapability.NONE);
        assertThat(WorkCompletionOpcode.of(99)).isEqualTo(WorkCompletionOpcode.OTHER);
        assertThat(AsyncEventType.of(99)).isEqualTo(AsyncEventType.OTHER);
        assertThat(DriverId.of(99)).isEqualTo(DriverId.UNKNOWN);
        assertThat(Rate.of(99)).hasToString("unknown rate (code 99)");
        assertThat(GidType.of(99)).isEqualTo(GidType.OTHER);
    }

    @Test
    void constantsThatCameLater() {
        assertThat(WorkCompletionOpcode.of(8)).isEqualTo(WorkCompletionOpcode.FLUSH);
        assertThat(AsyncEventType.of(Rdma.IBV_EVENT_DEVICE_SPEED_CHANGE()))
                .isEqualTo(AsyncEventType.DEVICE_SPEED_CHANGE)
                .extracting(AsyncEventType::source).isEqualTo(AsyncEventType.Source.DEVICE);
        assertThat(OdpCapability.of(3 << 6)).containsExactly(OdpCapability.FLUSH, OdpCapability.ATOMIC_WRITE);
        assertThat(DeviceCapability.of(0xfL << 38)).containsExactly(DeviceCapability.FLUSH_GLOBAL,
                DeviceCapability.FLUSH_PERSISTENT, DeviceCapability.ATOMIC_WRITE, DeviceCapability.CC_DMA_BOUNCE);
        assertThat(ExtendedPortCapability.of(1 << 12)).containsExactly(ExtendedPortCapability.LINK_SPEED_XDR_SUP);
        assertThat(AccessFlag.FLUSH_GLOBAL.bit() | AccessFlag.FLUSH_PERSISTENT.bit()).isEqualTo(3 << 8);
        assertThat(DriverId.ofResourceType(21L << 32 | 7)).isEqualTo(DriverId.IONIC);
    }
}
