// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.rdmacm.core.ScatterGatherList;
import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Operations of connections with several parts of local memory. */
@RequiresRdma
class ScatterGatherDeviceTest {
    private static final int SIZE = 4096;

    private Peers peers;
    private Connection client;
    private Connection server;
    private MemoryRegion local;
    private MemoryRegion remote;

    @BeforeEach
    void connect() throws Exception {
        peers = new Peers();
        Peers.Pair pair = peers.connect(ConnectionSettings.builder().scatterGather(3).inlineSize(16).build());
        client = pair.client();
        server = pair.server();
        local = client.protectionDomain().allocate(SIZE, AccessFlag.LOCAL_WRITE);
        remote = server.protectionDomain().allocate(SIZE, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_WRITE);
        for (int i = 0; i < SIZE; i++) {
            local.memory().set(ValueLayout.JAVA_BYTE, i, (byte) i);
            remote.memory().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
        }
    }

    @AfterEach
    void close() throws Exception {
        client.close();
        server.close();
        local.close();
        remote.close();
        peers.close();
    }

    private ScatterGatherList parts() {
        return ScatterGatherList.allocate(4).add(local, 100, 3).add(local, 10, 2).add(local, 1000, 1);
    }

    private static byte[] bytes(MemoryRegion region, long offset, int length) {
        return region.memory().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void severalPartsAreOneMessage() throws Exception {
        byte[] expected = {100, 101, 102, 10, 11, (byte) 1000};
        client.send(parts(), Peers.TIMEOUT);
        CompletableFuture<Void> sent = new CompletableFuture<>();
        assertThat(client.queue().send(parts(), (who, context, failure) -> sent.complete(null), 0)).isTrue();
        Flavour.get(sent);
        // The next operation of the same request has one part again.
        client.send(MemorySegment.ofArray(new byte[] {9}), Peers.TIMEOUT);
        for (int i = 0; i < 2; i++) {
            try (Message message = server.receive(Peers.TIMEOUT)) {
                assertThat(message.toArray()).isEqualTo(expected);
            }
        }
        try (Message message = server.receive(Peers.TIMEOUT)) {
            assertThat(message.toArray()).containsExactly(9);
        }
        assertThat(client.counters().bytesSent()).isEqualTo(13);
    }

    @Test
    void severalPartsAreWrittenAndRead() throws Exception {
        RemoteMemory target = remote.remoteMemory().slice(8);
        client.write(parts(), target, Peers.TIMEOUT);
        assertThat(bytes(remote, 8, 6)).containsExactly(100, 101, 102, 10, 11, (byte) 1000);
        CompletableFuture<Void> written = new CompletableFuture<>();
        assertThat(client.queue().write(parts(), target, 100, (who, context, failure) -> written.complete(null), 0))
                .isTrue();
        Flavour.get(written);
        assertThat(bytes(remote, 108, 6)).containsExactly(100, 101, 102, 10, 11, (byte) 1000);
        RdmaTestDevice.assumeNotIwarp("a read has one entry");
        byte[] source = bytes(remote, 200, 6);
        client.read(parts(), remote.remoteMemory().slice(200), Peers.TIMEOUT);
        assertThat(bytes(local, 100, 3)).containsExactly(source[0], source[1], source[2]);
        assertThat(bytes(local, 10, 2)).containsExactly(source[3], source[4]);
        assertThat(bytes(local, 1000, 1)).containsExactly(source[5]);
        CompletableFuture<Void> read = new CompletableFuture<>();
        assertThat(client.queue().read(parts(), remote.remoteMemory(), 300,
                (who, context, failure) -> read.complete(null), 0)).isTrue();
        Flavour.get(read);
        assertThat(bytes(local, 100, 3)).isEqualTo(bytes(remote, 300, 3));
        assertThat(client.counters().operationBytes()).isEqualTo(24);
    }

    @Test
    void severalPartsAreTransferredAsynchronously() throws Exception {
        ScatterGatherList list = parts();
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        // More than there is room for: the list is the program's again also while it waits for room. Over iWARP, a
        // message that finds no receive breaks the connection.
        int count = RdmaTestDevice.get().isIwarp() ? 10 : 40;
        for (int i = 0; i < count; i++) {
            list.clear().add(local, i, 1).add(local, 2 * i, 2);
            sent.add(client.async().send(list));
        }
        list.clear();
        for (int i = 0; i < count; i++) {
            try (Message message = server.receive(Peers.TIMEOUT)) {
                assertThat(message.toArray()).containsExactly(i, 2 * i, 2 * i + 1);
            }
            Flavour.get(sent.get(i));
        }
        RemoteMemory target = remote.remoteMemory().slice(8);
        Flavour.get(client.async().write(parts(), target));
        assertThat(bytes(remote, 8, 6)).containsExactly(100, 101, 102, 10, 11, (byte) 1000);
        RdmaTestDevice.assumeNotIwarp("a read has one entry");
        Flavour.get(client.async().read(parts(), remote.remoteMemory().slice(300)));
        assertThat(bytes(local, 100, 3)).isEqualTo(bytes(remote, 300, 3));
        assertThatIllegalArgumentException().isThrownBy(() -> client.async().send(parts().add(local, 0, 1)))
                .withMessageContaining("scatterGather");
    }

    @Test
    void whatTheSettingsOrTheMemoryDoNotAllowIsRefused() throws Exception {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.send(parts().add(local, 0, 1), Peers.TIMEOUT))
                .withMessageContaining("scatterGather");
        assertThatThrownBy(() -> client.write(parts(), remote.remoteMemory().slice(0, 5), Peers.TIMEOUT))
                .isInstanceOf(IndexOutOfBoundsException.class);
        try (ProtectionDomain domain = client.protectionDomain().context().allocateProtectionDomain();
                MemoryRegion foreign = domain.allocate(64, AccessFlag.LOCAL_WRITE)) {
            assertThatIllegalArgumentException().isThrownBy(() -> client.send(
                    ScatterGatherList.allocate(1).add(foreign, 0, 1), Peers.TIMEOUT))
                    .withMessageContaining("another protection domain");
        }
        // The device would end the connection.
        try (MemoryRegion notWritable = client.protectionDomain().allocate(64)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> client.read(notWritable, 0, 8, remote.remoteMemory(), Peers.TIMEOUT))
                    .withMessageContaining("LOCAL_WRITE");
            assertThatIllegalArgumentException().isThrownBy(() -> client.read(
                    ScatterGatherList.allocate(1).add(notWritable, 0, 8), remote.remoteMemory(), Peers.TIMEOUT))
                    .withMessageContaining("LOCAL_WRITE");
            assertThatIllegalArgumentException().isThrownBy(() -> client.queue().fetchAndAdd(notWritable, 0,
                    remote.remoteMemory(), 0, 1, (_, _, _) -> { }, 0)).withMessageContaining("LOCAL_WRITE");
            // It does not look at the memory of a read of nothing.
            client.read(notWritable, 0, 0, remote.remoteMemory(), Peers.TIMEOUT);
        }
        client.send(parts(), Peers.TIMEOUT);
        server.receive(Peers.TIMEOUT).close();
    }
}
