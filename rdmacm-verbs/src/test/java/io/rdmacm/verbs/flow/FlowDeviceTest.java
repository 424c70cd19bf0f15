// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import java.util.Set;

import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.IndirectionTable;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveSideScaling;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkQueue;
import io.rdmacm.verbs.device.DeviceCapability;
import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.device.RxHashFunction;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Flow steering on a device: refused by name where there is none, with nothing left behind. */
@RequiresRdma
class FlowDeviceTest {
    private VerbsContext context;
    private ProtectionDomain domain;
    private CompletionQueue queue;

    @BeforeEach
    void open() throws RdmaException {
        context = Device.list().stream().filter(device -> device.name().equals(RdmaTestDevice.get().name()))
                .findFirst().orElseThrow().open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(8);
    }

    @AfterEach
    void close() throws RdmaException {
        queue.close();
        domain.close();
        context.close();
    }

    private void requireNoSteering() throws RdmaException {
        Assumptions.assumeFalse(context.queryDevice().capabilities().contains(DeviceCapability.MANAGED_FLOW_STEERING),
                "the device steers flows: what it does is for the tests of traffic");
    }

    @Test
    @Covers({"ibv_create_flow", "ibv_destroy_flow"})
    void aDeviceWithoutFlowsRefuses() throws Exception {
        RdmaTestDevice.assumeNotIwarp("it has no queue pairs of type UD");
        requireNoSteering();
        try (QueuePair pair = domain.createQueuePair(QueuePairInitAttributes.builder().type(QueuePairType.UD)
                .completionQueue(queue).build())) {
            for (FlowAttributes rule : List.of(FlowAttributes.builder().build(),
                    FlowAttributes.builder().match(FlowMatch.udp().with(FlowField.TCP_UDP_DST_PORT, 5)).tag(1)
                            .build())) {
                assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> Flow.create(pair, rule))
                        .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_create_flow"));
            }
        }
    }

    @Test
    @Covers({"ibv_create_flow_action_esp", "ibv_modify_flow_action_esp", "ibv_destroy_flow_action"})
    void aDeviceWithoutEspRefuses() throws Exception {
        requireNoSteering();
        EspAttributes attributes = EspAttributes.builder().parameters(EspParameters.of())
                .keyMaterial(new EspKeyMaterial(0, 0, 16, new byte[32])).build();
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> FlowAction.createEsp(context, attributes))
                .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_create_flow_action_esp"));
    }

    /** Counters for flows are refused where they are made already. */
    @Test
    @Covers({"ibv_create_counters", "ibv_attach_counters_point_flow"})
    void aDeviceWithoutCountersRefuses() throws Exception {
        requireNoSteering();
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> {
            try (Counters counters = Counters.create(context)) {
                counters.attachPointFlow(CounterDescription.PACKETS, 0);
            }
        }).satisfies(e -> assertThat(e.function()).isIn("ibv_create_counters", "ibv_attach_counters_point_flow"));
    }

    @Test
    @Covers("ibv_create_wq")
    void aDeviceWithoutReceiveSideScalingRefuses() throws Exception {
        Assumptions.assumeTrue(context.queryDeviceEx().rss().maxIndirectionTables() == 0,
                "the device has indirection tables");
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> {
            try (WorkQueue work = domain.createWorkQueue(queue, 1, 1);
                    IndirectionTable table = context.createIndirectionTable(List.of(work))) {
                ReceiveSideScaling scaling = new ReceiveSideScaling(table, RxHashFunction.TOEPLITZ, new byte[40],
                        Set.of(RxHashField.SRC_IPV4));
                domain.createQueuePair(QueuePairInitAttributes.builder().type(QueuePairType.RAW_PACKET)
                        .receiveSideScaling(scaling).build()).close();
            }
        }).satisfies(e -> assertThat(e.function()).isEqualTo("ibv_create_wq"));
    }
}
