// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.rdmacm.bindings.Rdma;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What hints say on machines with some devices and files. */
class HintsTest {
    @TempDir
    private Path root;
    private Hints hints;

    @BeforeEach
    void create() {
        hints = new Hints(root.resolve("class"), root.resolve("dev"));
    }

    private void file(String name, String text) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text + "\n");
    }

    private void device(String name, String uverbs, String type, String linkLayer, String networkInterface)
            throws IOException {
        file("class/infiniband/" + name + "/node_type", type);
        file("class/infiniband/" + name + "/ports/1/link_layer", linkLayer);
        file("class/infiniband/" + name + "/ports/1/gid_attrs/ndevs/0", networkInterface);
        file("class/infiniband_verbs/" + uverbs + "/ibdev", name);
    }

    @Test
    void eachFunctionHasItsOwnPermissions() {
        assertThat(hints.hint("rdma_bind_addr", Rdma.EACCES())).contains("below 1024", "CAP_NET_BIND_SERVICE");
        assertThat(hints.hint("rdma_resolve_addr", Rdma.EACCES())).contains("CAP_NET_BIND_SERVICE");
        assertThat(hints.hint("ibv_create_qp_ex", Rdma.EPERM())).contains("CAP_NET_RAW");
        assertThat(hints.hint("ibv_open_device", Rdma.EACCES())).contains(root.resolve("dev") + "/* readable");
    }

    @Test
    void memoryThatCannotBePinnedHasItsReasons() {
        assertThat(hints.hint("ibv_reg_mr", Rdma.EFAULT())).contains("writable", "Linux 6.5", "MapMode.PRIVATE");
        assertThat(hints.hint("ibv_post_send", Rdma.EFAULT())).isEmpty();
    }

    @Test
    void aQueueMayBeFull() {
        assertThat(hints.hint("ibv_post_send", Rdma.ENOMEM())).contains("send queue full", "signaled");
        assertThat(hints.hint("ibv_wr_complete", Rdma.ENOMEM())).contains("send queue full");
        assertThat(hints.hint("ibv_post_recv", Rdma.ENOMEM())).contains("receive queue full");
        assertThat(hints.hint("ibv_post_srq_recv", Rdma.ENOMEM())).contains("receive queue full");
        assertThat(hints.hint("ibv_reg_mr", Rdma.ENOMEM())).contains("ulimit -l");
        assertThat(hints.hint("ibv_create_ah", Rdma.ENOMEM())).isEmpty();
    }

    @Test
    void withoutADeviceItSaysHowToMakeOne() {
        assertThat(hints.hint("rdma_create_event_channel", Rdma.ENODEV())).contains("no RDMA device", "rdma_rxe");
    }

    @Test
    void aFileThatTheContainerLacksIsNamed() throws IOException {
        device("mlx5_0", "uverbs0", "1: CA", "InfiniBand", "");
        device("mlx5_1", "uverbs1", "1: CA", "InfiniBand", "");
        file("dev/uverbs0", "");
        String missing = root.resolve("dev/uverbs1") + " is missing: pass the file into the container";
        assertThat(hints.hint("ibv_open_device", Rdma.ENOENT())).isEqualTo(missing);
        assertThat(hints.hint("rdma_create_event_channel", Rdma.ENODEV()))
                .startsWith(root.resolve("dev/rdma_cm") + " is missing: `modprobe rdma_ucm`, or pass the file");
        file("dev/rdma_cm", "");
        assertThat(hints.hint("rdma_resolve_addr", Rdma.ENODEV())).isEqualTo(missing);
        file("dev/uverbs1", "");
        assertThat(hints.hint("rdma_resolve_addr", Rdma.ENODEV()))
                .startsWith("no RDMA device serves this address (see `rdma link`)");
        assertThat(hints.hint("ibv_open_device", Rdma.ENODEV())).isEmpty();
    }

    @Test
    void theAddressesThatAreServedAreListed() throws IOException {
        device("rxe0", "uverbs0", "1: CA", "Ethernet", "lo");
        file("dev/uverbs0", "");
        file("dev/rdma_cm", "");
        assertThat(hints.hint("rdma_resolve_route", Rdma.ENODEV())).contains("(rxe0 serves ").contains("127.0.0.1");
    }

    @Test
    void onlyRoceHasNoLoopback() throws IOException {
        assertThat(hints.hasOnlyRoce()).isFalse();
        device("rxe0", "uverbs0", "1: CA", "Ethernet", "lo");
        assertThat(hints.hasOnlyRoce()).isTrue();
        assertThat(hints.hasRnic()).isFalse();
        device("siw0", "uverbs1", "4: RNIC", "Ethernet", "lo");
        assertThat(hints.hasOnlyRoce()).isFalse();
        assertThat(hints.hasRnic()).isTrue();
    }

    @Test
    void infinibandHasLoopback() throws IOException {
        device("mlx5_0", "uverbs0", "1: CA", "InfiniBand", "");
        assertThat(hints.hasOnlyRoce()).isFalse();
    }
}
