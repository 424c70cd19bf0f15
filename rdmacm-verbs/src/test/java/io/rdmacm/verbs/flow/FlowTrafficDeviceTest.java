// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;

import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FlowTraffic;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Ethernet frames are steered to a queue pair, and spread over its work queues. Where the device cannot do that, the
 * tests are skipped and name what it refused.
 */
@RequiresRdma
class FlowTrafficDeviceTest {
    private static final int MELLANOX = 0x2c9;
    private static final int CONNECT_X3 = 0x1003;
    private static final int CONNECT_X3_PRO = 0x1007;

    private VerbsContext context;
    private FlowTraffic traffic;

    @BeforeEach
    void open() throws RdmaException {
        context = openDevice();
        traffic = new FlowTraffic(openDevice(), context);
    }

    @AfterEach
    void close() throws RdmaException {
        traffic.close();
    }

    private static VerbsContext openDevice() throws RdmaException {
        return Device.list().stream().filter(device -> device.name().equals(RdmaTestDevice.get().name())).findFirst()
                .orElseThrow().open();
    }

    private void requireNewerThanConnectX3(String lacking) throws RdmaException {
        DeviceAttributes device = context.queryDevice();
        Assumptions.assumeFalse(device.vendorId() == MELLANOX && (device.vendorPartId() == CONNECT_X3
                || device.vendorPartId() == CONNECT_X3_PRO), "ConnectX-3 lacks " + lacking);
    }

    @Test
    @DisplayName("FlowTest.test_eth_spec_flow_traffic")
    @Covers({"ibv_create_flow", "ibv_destroy_flow"})
    void ethernetHeader() throws Exception {
        traffic.ethernetHeader();
    }

    @Test
    @DisplayName("FlowTest.test_ipv4_spec_flow_traffic")
    @Covers("ibv_create_flow")
    void ipv4Header() throws Exception {
        requireNewerThanConnectX3("matches of the whole IPv4 header");
        traffic.ipv4Header();
    }

    @Test
    @DisplayName("FlowTest.test_ipv6_spec_flow_traffic")
    @Covers("ibv_create_flow")
    void ipv6Header() throws Exception {
        requireNewerThanConnectX3("matches of the IPv6 header");
        traffic.ipv6Header();
    }

    @Test
    @DisplayName("FlowTest.test_udp_spec_flow_traffic")
    @Covers("ibv_create_flow")
    void udpPorts() throws Exception {
        requireNewerThanConnectX3("matches of the whole IPv4 header");
        traffic.udpPorts();
    }

    @Test
    @DisplayName("FlowTest.test_tcp_spec_flow_traffic")
    @Covers("ibv_create_flow")
    void tcpPorts() throws Exception {
        requireNewerThanConnectX3("matches of the IPv6 header");
        traffic.tcpPorts();
    }

    @Test
    @DisplayName("RSSTrafficTest.test_rss_traffic")
    @Covers({"ibv_create_wq", "ibv_modify_wq", "ibv_post_wq_recv", "ibv_destroy_wq",
        "ibv_create_rwq_ind_table", "ibv_destroy_rwq_ind_table"})
    void spreadByTheHash() throws Exception {
        requireNewerThanConnectX3("indirection tables of any work queues");
        assertThat(Arrays.stream(traffic.spreadByTheHash()).sum()).isEqualTo(FlowTraffic.SPREAD);
    }
}
