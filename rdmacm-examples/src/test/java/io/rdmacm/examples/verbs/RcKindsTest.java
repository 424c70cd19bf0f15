// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_cq_init_attr_ex;
import io.rdmacm.bindings.ibv_qp_init_attr;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** ibv_rc_pingpong with the kinds of memory and completions that SoftRoCE lacks, over the stand-in for libibverbs. */
@WithFakeVerbs
class RcKindsTest {
    private static final int SIZE = 64;
    private static final int LOCAL_WRITE = Rdma.IBV_ACCESS_LOCAL_WRITE();
    private static final int ON_DEMAND = Rdma.IBV_ACCESS_ON_DEMAND();

    @BeforeEach
    void ableDevice() {
        FakeVerbs.able(true);
        FakeVerbs.loop(true);
    }

    /** Runs a client for two messages. The test is the server and the wire. */
    private static Program.Result play(String... options) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            List<String> arguments = new ArrayList<>(List.of("ibv_rc_pingpong", "-g", "1", "-e", "-n", "2", "-r", "4",
                    "-s", "" + SIZE, "-p", "" + server.getLocalPort()));
            arguments.addAll(List.of(options));
            arguments.add(server.getInetAddress().getHostAddress());
            FakeVerbs.hold("post_send");
            try (Program client = Program.inThread(arguments.toArray(String[]::new))) {
                Destination theirs = exchange(server);
                for (int i = 0; i < 2; i++) {
                    FakeVerbs.awaitHeld();
                    if (i == 0) {
                        FakeVerbs.hold("post_send");
                    }
                    answer(theirs.queuePair());
                    FakeVerbs.release();
                }
                Program.Result result = client.result();
                assertThat(result.status()).as(result.err()).isZero();
                assertThat(result.out()).contains("256 bytes in ", "2 iters in ");
                return result;
            }
        }
    }

    private static Destination exchange(ServerSocket server) throws IOException {
        try (Socket client = server.accept()) {
            Destination theirs = Destination.of(new String(client.getInputStream().readNBytes(Destination.BYTES),
                    StandardCharsets.US_ASCII));
            client.getOutputStream().write(new Destination(0, 7, 9, new Gid(1, 1)).toText()
                    .getBytes(StandardCharsets.US_ASCII));
            assertThat(client.getInputStream().readNBytes(5)).containsExactly('d', 'o', 'n', 'e', 0);
            return theirs;
        }
    }

    private static void answer(int pair) {
        long queue = data("ibv_create_qp").getLong((int) ibv_qp_init_attr.send_cq$offset());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment completion = ibv_wc.allocate(arena);
            ibv_wc.wr_id(completion, PingPong.RECEIVE);
            ibv_wc.qp_num(completion, pair);
            FakeVerbs.complete(MemorySegment.ofAddress(queue), completion);
        }
    }

    private static FakeVerbs.Call first(String function) {
        assertThat(FakeVerbs.calls(function)).as("calls of " + function).isNotEmpty();
        return FakeVerbs.calls(function).getFirst();
    }

    private static ByteBuffer data(String function) {
        return ByteBuffer.wrap(first(function).data()).order(ByteOrder.nativeOrder());
    }

    private static long sentAddress() {
        return data("post_send").getLong((int) (ibv_send_wr.sizeof() + ibv_sge.addr$offset()));
    }

    @Test
    void pagedMemoryIsPrefetched() throws Exception {
        play("-o", "-P");
        List<Long> registered = first("ibv_reg_mr").arguments();
        assertThat(registered).element(2).isEqualTo((long) SIZE);
        assertThat(registered).element(3).isEqualTo((long) (LOCAL_WRITE | ON_DEMAND));
        assertThat(sentAddress()).isEqualTo(registered.get(1));
        assertThat(first("fake_advise_mr").arguments()).element(1)
                .isEqualTo((long) Rdma.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE());
        assertThat(first("fake_advise_mr").arguments()).element(2).isEqualTo((long) Rdma.IBV_ADVISE_MR_FLAG_FLUSH());
        assertThat(data("fake_advise_mr").getLong()).isEqualTo(registered.get(1));
    }

    @Test
    void memoryThatCannotBePrefetchedIsPagedAllTheSame() throws Exception {
        FakeVerbs.fail("fake_advise_mr", Rdma.EFAULT());
        assertThat(play("-o", "-P").errLines()).containsExactly("Couldn't prefetch MR(14). Continue anyway");
    }

    @Test
    void allMemoryIsPaged() throws Exception {
        play("-O");
        assertThat(FakeVerbs.calls("ibv_reg_mr")).hasSize(1);
        List<Long> registered = first("ibv_reg_mr").arguments();
        assertThat(registered.subList(1, 4)).containsExactly(0L, -1L, (long) (LOCAL_WRITE | ON_DEMAND));
        assertThat(sentAddress()).isNotZero();
    }

    @Test
    void memoryOfTheDevice() throws Exception {
        play("-j");
        assertThat(FakeVerbs.functions()).contains("fake_alloc_dm", "fake_reg_dm_mr", "fake_free_dm")
                .doesNotContain("ibv_reg_mr");
        assertThat(first("fake_reg_dm_mr").arguments().subList(2, 5)).containsExactly(0L, (long) SIZE,
                (long) (LOCAL_WRITE | Rdma.IBV_ACCESS_ZERO_BASED()));
        assertThat(sentAddress()).isZero();
    }

    @Test
    void receivesAreTimed() throws Exception {
        Program.Result result = play("-t");
        assertThat(data("create_cq_ex").getLong((int) ibv_cq_init_attr_ex.wc_flags$offset()))
                .isEqualTo(Rdma.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP());
        // The clock of the stand-in stands still.
        assertThat(result.outLines()).endsWith("Max receive completion clock cycles = 0",
                "Min receive completion clock cycles = 0", "Average receive completion clock cycles = 0.000000");
    }
}
