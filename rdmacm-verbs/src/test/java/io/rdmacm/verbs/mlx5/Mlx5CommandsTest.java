// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;

import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeMlx5;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.AccessFlag;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Commands of DEVX and what they need, and questions that this card answers with no. */
@WithFakeMlx5
class Mlx5CommandsTest {
    private static final int HEAD = 16;
    private static final int CREATE = 0xa00;
    private static final int MODIFY = 0xa01;
    private static final int QUERY = 0xa02;
    private static final int QUERY_CAPABILITIES = 0x100;
    private static final int NUMBER_AT = 8;
    // LOG_MAX_MEMCPY of the general capabilities, in the answer
    private static final int COPY_LIMIT_AT = HEAD + 13;

    /** A command of the firmware: its code, and what follows the head. */
    private static byte[] command(int code, String after) {
        byte[] bytes = Arrays.copyOf(new byte[] {(byte) (code >> 8), (byte) code}, HEAD + after.length() / 2);
        System.arraycopy(HexFormat.of().parseHex(after), 0, bytes, HEAD, after.length() / 2);
        return bytes;
    }

    @Test
    @Covers({"mlx5dv_open_device", "mlx5dv_devx_obj_create", "mlx5dv_devx_obj_query", "mlx5dv_devx_obj_modify",
        "mlx5dv_devx_obj_destroy"})
    void anObjectIsCreatedQueriedModifiedAndDestroyed() throws Exception {
        try (VerbsContext context = Mlx5Device.open(Device.list().getFirst())) {
            int before = FakeMlx5.objects();
            try (DevxObject object = DevxObject.create(context, command(CREATE, "01020304"), HEAD)) {
                assertThat(FakeMlx5.lastCommand()).isEqualTo(command(CREATE, "01020304"));
                assertThat(ByteBuffer.wrap(object.answer()).getInt(NUMBER_AT)).isPositive();
                assertThat(object.query(command(QUERY, ""), HEAD + 4)).endsWith(1, 2, 3, 4);
                assertThat(object.modify(command(MODIFY, "05060708"), HEAD)).hasSize(HEAD);
                assertThat(object.query(command(QUERY, ""), HEAD + 4)).endsWith(5, 6, 7, 8);
                assertThat(FakeMlx5.objects()).isEqualTo(before + 1);
            }
            assertThat(FakeMlx5.objects()).isEqualTo(before);
        }
    }

    @Test
    @Covers("mlx5dv_devx_general_cmd")
    void aCommandIsAnswered() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            byte[] answer = Mlx5Device.command(end.context, command(QUERY_CAPABILITIES, ""), 0x1010);
            assertThat(1 << (answer[COPY_LIMIT_AT] & 0x1f)).isEqualTo(Mlx5Device.query(end.context).maxCopyLength());
        }
    }

    @Test
    @Covers({"mlx5dv_devx_umem_reg", "mlx5dv_devx_query_eqn", "mlx5dv_devx_alloc_uar", "mlx5dv_devx_free_uar"})
    void whatQueuesOfCommandsNeed() throws Exception {
        try (Mlx5End end = new Mlx5End(); Arena arena = Arena.ofConfined()) {
            int before = FakeMlx5.objects();
            try (DevxUmem memory = DevxUmem.register(end.context, arena.allocate(4096, 4096),
                    AccessFlag.LOCAL_WRITE); DevxUar register = DevxUar.allocate(end.context, false)) {
                assertThat(memory.id()).isPositive();
                assertThat(FakeMlx5.lastMemory()).contains(4096, AccessFlag.LOCAL_WRITE.bit());
                register.register().set(ValueLayout.JAVA_LONG, 0, 1);
                assertThat(register.pageId()).isPositive();
                assertThat(FakeMlx5.objects()).isGreaterThan(before);
            }
            assertThat(FakeMlx5.objects()).isEqualTo(before);
            assertThat(Mlx5Device.eventQueueNumber(end.context, 2))
                    .isEqualTo(Mlx5Device.eventQueueNumber(end.context, 0) + 2);
        }
    }

    @Test
    @Covers({"mlx5dv_query_qp_lag_port", "mlx5dv_modify_qp_lag_port", "mlx5dv_modify_qp_udp_sport",
        "mlx5dv_map_ah_to_qp", "mlx5dv_get_clock_info", "mlx5dv_query_port",
        "mlx5dv_qp_cancel_posted_send_wrs"})
    void whatThisCardDoesNotHaveIsToldByTypedErrors() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            Mlx5QueuePair pair = end.connection();
            Mlx5End.connect(pair, end.connection());
            AddressHandle handle = end.own(end.domain.createAddressHandle(Mlx5End.path()));

            refused(RdmaUnsupportedException.class, "mlx5dv_query_qp_lag_port", pair::queryLagPort);
            refused(RdmaUnsupportedException.class, "mlx5dv_modify_qp_lag_port", () -> pair.setLagPort(1));
            refused(RdmaUnsupportedException.class, "mlx5dv_modify_qp_udp_sport",
                    () -> pair.setUdpSourcePort(0xc000));
            refused(RdmaUnsupportedException.class, "mlx5dv_map_ah_to_qp", () -> pair.map(handle));
            refused(RdmaException.class, "mlx5dv_get_clock_info", () -> Mlx5Device.clock(end.context));
            refused(RdmaException.class, "mlx5dv_query_port", () -> Mlx5Device.queryPort(end.context, 1));
            refused(RdmaException.class, "mlx5dv_qp_cancel_posted_send_wrs", () -> pair.cancelPostedSends(1));
        }
    }

    private static void refused(Class<? extends RdmaException> type, String function, ThrowingCallable call) {
        assertThatExceptionOfType(type).isThrownBy(call).withMessageContaining(function);
    }
}
