// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.util.EnumSet;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Flow actions of IPsec ESP: made and changed with the bytes of C. */
@WithFakeVerbs
public class FlowActionTest {
    // the parts of oracle_esp
    private static final int PARAMETERS = 1;
    private static final int KEY = 2;
    private static final int REPLAY = 4;
    private static final int NO_REPLAY = 8;
    private static final int ENCAPSULATION = 16;
    private static final int SEQUENCE = 32;
    private static final EspParameters ALL_NUMBERS = new EspParameters(EnumSet.allOf(EspFlag.class), 0x87654321,
            0xfffffffe, 21, 0xfedcba9876543210L);

    private FakeStack stack;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.call("fake_equip_flows", stack.context().handle().address());
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    private static byte[] key(int length) {
        byte[] key = new byte[length];
        for (int i = 0; i < length; i++) {
            key[i] = (byte) (0xf0 - i);
        }
        return key;
    }

    private static EspKeyMaterial material(int length) {
        return new EspKeyMaterial(0x0102030405060708L, 0xcafebabe, 12, key(length));
    }

    /** What a new action needs, and no more. */
    public static EspAttributes complete() {
        return EspAttributes.builder().parameters(EspParameters.of(EspFlag.ENCRYPT)).keyMaterial(material(16)).build();
    }

    private static byte[] oracle(int parts, int flags, int keyLength) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(2048, Long.BYTES);
            MemorySegment key = arena.allocateFrom(ValueLayout.JAVA_BYTE, key(keyLength));
            // struct oracle_esp_numbers
            MemorySegment numbers = arena.allocateFrom(ValueLayout.JAVA_LONG, flags, 0x87654321, 0xfffffffe, 21,
                    0xfedcba9876543210L, 0x0102030405060708L, 0xcafebabe, 12, 1 << 20, 0xc0000201, 0xc0000202, 4501,
                    4500, 0x80000001);
            long size = FakeVerbs.call("oracle_esp", bytes.address(), parts, numbers.address(), key.address(),
                    keyLength);
            return bytes.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static int allFlags() {
        return Rdma.IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD() | Rdma.IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT()
                | Rdma.IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT() | Rdma.IBV_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW();
    }

    @Test
    @Covers({"ibv_create_flow_action_esp", "ibv_destroy_flow_action"})
    void allPartsHaveTheBytesOfC() throws RdmaException {
        for (int length : new int[] {16, 24, 32}) {
            FakeVerbs.reset();
            EspAttributes attributes = EspAttributes.builder().parameters(ALL_NUMBERS).keyMaterial(material(length))
                    .replayWindow(1 << 20).encapsulation(
                            FlowMatch.ipv4().with(FlowField.IPV4_SRC_IP, Inet4Address.ofLiteral("192.0.2.1"))
                                    .with(FlowField.IPV4_DST_IP, Inet4Address.ofLiteral("192.0.2.2")),
                            FlowMatch.udp().with(FlowField.TCP_UDP_DST_PORT, 4500)
                                    .with(FlowField.TCP_UDP_SRC_PORT, 4501))
                    .extendedSequence(0x80000001).build();
            try (FlowAction action = FlowAction.createEsp(stack.context(), attributes)) {
                FakeVerbs.Call call = FakeVerbs.calls("create_flow_action_esp").getFirst();
                assertThat(call.arguments().getFirst()).isEqualTo(stack.context().handle().address());
                assertThat(call.data()).isEqualTo(oracle(PARAMETERS | KEY | REPLAY | ENCAPSULATION | SEQUENCE,
                        allFlags(), length));
                assertThat(action.context()).isSameAs(stack.context());
                assertThatIllegalStateException().isThrownBy(stack.context()::close)
                        .withMessageContaining(action.toString());
            }
            assertThat(FakeVerbs.functions()).containsExactly("create_flow_action_esp", "destroy_flow_action");
        }
    }

    @Test
    @Covers("ibv_modify_flow_action_esp")
    void eachPartCanBeChangedAlone() throws RdmaException {
        try (FlowAction action = FlowAction.createEsp(stack.context(), complete())) {
            FakeVerbs.reset();
            action.modifyEsp(EspAttributes.builder().parameters(ALL_NUMBERS).build());
            action.modifyEsp(EspAttributes.builder().keyMaterial(material(32)).build());
            action.modifyEsp(EspAttributes.builder().replayWindow(1 << 20).build());
            action.modifyEsp(EspAttributes.builder().extendedSequence(0x80000001).build());
            action.modifyEsp(EspAttributes.builder().build());
            assertThat(FakeVerbs.calls("modify_flow_action_esp")).extracting(FakeVerbs.Call::data).containsExactly(
                    oracle(PARAMETERS, allFlags(), 0), oracle(KEY, 0, 32), oracle(REPLAY, 0, 0),
                    oracle(SEQUENCE, 0, 0), oracle(0, 0, 0));
            assertThat(FakeVerbs.calls()).allSatisfy(call -> assertThat(call.arguments().getFirst())
                    .isEqualTo(action.handle().address()));

            FakeVerbs.reset();
            action.modifyEsp(EspAttributes.builder().replayWindow(0).build());
            assertThat(FakeVerbs.calls().getFirst().data()).isEqualTo(oracle(NO_REPLAY, 0, 0));

            FakeVerbs.fail("modify_flow_action_esp", Rdma.EINVAL());
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> action.modifyEsp(complete()))
                    .withMessageStartingWith("ibv_modify_flow_action_esp: EINVAL");
        }
    }

    @Test
    void withoutFlagsTheNumbersAreZero() throws RdmaException {
        assertThat(EspParameters.of()).isEqualTo(new EspParameters(EnumSet.noneOf(EspFlag.class), 0, 0, 0, 0));
        assertThat(EspParameters.of(EspFlag.TRANSPORT).flags()).containsExactly(EspFlag.TRANSPORT);
    }

    @Test
    void whatIsMissingOrCannotBeIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> FlowAction.createEsp(stack.context(),
                EspAttributes.builder().keyMaterial(material(16)).build()))
                .withMessageStartingWith("a new flow action needs parameters: ");
        assertThatIllegalArgumentException().isThrownBy(() -> FlowAction.createEsp(stack.context(),
                EspAttributes.builder().parameters(ALL_NUMBERS).build()))
                .withMessageStartingWith("a new flow action needs key material: ");
        for (int length : new int[] {0, 15, 20, 33}) {
            assertThatIllegalArgumentException().isThrownBy(() -> material(length))
                    .withMessage("an AES key has 16, 24 or 32 bytes, not " + length);
        }
        assertThatIllegalArgumentException().isThrownBy(() -> new EspKeyMaterial(0, 0, 4, key(16)))
                .withMessage("an integrity check value has 8, 12 or 16 bytes, not 4");
        assertThatIllegalArgumentException().isThrownBy(() -> EspAttributes.builder().replayWindow(-1).build())
                .withMessage("a replay window cannot be negative: -1");
        assertThat(FakeVerbs.functions()).isEmpty();
    }

    @Test
    void theTextTellsNoKey() {
        EspKeyMaterial material = material(24);
        assertThat(EspAttributes.builder().keyMaterial(material).build().toString())
                .contains("EspKeyMaterial[AES-GCM, key of 24 bytes, check value of 12 bytes]")
                .doesNotContain("240", "f0ef", Integer.toString(0xcafebabe));
        byte[] key = material.key();
        key[0] = 0;
        assertThat(material.key()).isEqualTo(key(24));
        assertThat(material).isEqualTo(material(24)).hasSameHashCodeAs(material(24)).isNotEqualTo(material(16));
    }

    @Test
    void aFailedCreationLeavesNothingBehind() throws RdmaException {
        FakeVerbs.fail("create_flow_action_esp", Rdma.ENOMEM());
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> FlowAction.createEsp(stack.context(), complete()))
                .withMessageStartingWith("ibv_create_flow_action_esp: ENOMEM");
        FlowAction action = FlowAction.createEsp(stack.context(), complete());
        FakeVerbs.fail("destroy_flow_action", Rdma.EBUSY());
        assertThatExceptionOfType(RdmaException.class).isThrownBy(action::close)
                .withMessageStartingWith("ibv_destroy_flow_action: EBUSY");
        assertThat(action.isOpen()).isTrue();
        action.close();
        FakeVerbs.setExtendedOp(stack.context().handle(), "create_flow_action_esp", 0);
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> FlowAction.createEsp(stack.context(), complete()))
                .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_create_flow_action_esp"));
    }
}
