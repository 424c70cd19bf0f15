// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;

import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.EndOfStack;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.Seed;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.WorkCompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each operation in each of its three flavours, and what each refuses. */
@RequiresRdma
class OperationsDeviceTest {
    private static final int SIZE = 4096;

    private final Random random = Seed.random(1);
    private Peers peers;
    private Connection client;
    private Connection server;
    private MemoryRegion local;
    private MemoryRegion remote;

    @BeforeEach
    void connect() throws Exception {
        peers = new Peers();
        Peers.Pair pair = peers.connect();
        client = pair.client();
        server = pair.server();
        local = client.protectionDomain().allocate(SIZE, AccessFlag.LOCAL_WRITE);
        remote = server.protectionDomain().allocate(SIZE, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);
        fill(local.memory());
        fill(remote.memory());
    }

    @AfterEach
    void close() throws Exception {
        client.close();
        server.close();
        local.close();
        remote.close();
        peers.close();
    }

    private void fill(MemorySegment memory) {
        byte[] bytes = new byte[SIZE];
        random.nextBytes(bytes);
        memory.copyFrom(MemorySegment.ofArray(bytes));
    }

    private static byte[] bytes(MemoryRegion region, long offset, int length) {
        return region.memory().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void anAtomicOperationForWhichThereIsTooLittleStackIsNotDoneLater() throws Exception {
        RemoteMemory word = remote.remoteMemory();
        remote.memory().set(ValueLayout.JAVA_LONG, 0, 0);
        Background.Action add = () -> {
            long ignored = client.fetchAndAdd(word, 1, Peers.TIMEOUT);
        };
        add.run();
        EndOfStack.run(add);
        assertThat(client.fetchAndAdd(word, 0, Peers.TIMEOUT)).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void copiesAreSent(Flavour flavour) throws Exception {
        for (int length : new int[] {0, 1, 63, 64, SIZE}) {
            byte[] data = new byte[length];
            random.nextBytes(data);
            byte[] copy = data.clone();
            flavour.send(client, copy);
            // the memory can be reused at once
            random.nextBytes(copy);
            try (Message message = server.receive(Peers.TIMEOUT)) {
                assertThat(message.toArray()).isEqualTo(data);
                assertThat(message.length()).isEqualTo(length);
                assertThat(message.hasImmediate()).isFalse();
                assertThat(message.isRemoteWrite()).isFalse();
                assertThat(message.immediate()).isZero();
            }
        }
        assertThatThrownBy(() -> flavour.send(client, new byte[SIZE + 1])).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("4097");
        assertThat(client.counters().messagesSent()).isEqualTo(5);
        assertThat(client.counters().bytesSent()).isEqualTo(128 + SIZE);
        assertThat(server.counters().messagesReceived()).isEqualTo(5);
        assertThat(server.counters().bytesReceived()).isEqualTo(128 + SIZE);
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsReadAndWritten(Flavour flavour) throws Exception {
        byte[] before = bytes(local, 0, SIZE);
        for (RemoteMemory memory : List.of(RemoteMemory.NONE, remote.remoteMemory())) {
            flavour.read(client, local, 0, 0, memory);
            flavour.write(client, local, SIZE, 0, memory);
        }
        assertThat(bytes(local, 0, SIZE)).isEqualTo(before);
        flavour.send(client, new byte[] {1});
        server.receive(Peers.TIMEOUT).close();
    }

    /** To cancel a future does not cancel the operation, which nobody has to wait for. */
    @Test
    void whatIsCancelledIsDoneAllTheSame() throws Exception {
        for (byte i = 0; i < 100; i++) {
            client.async().send(MemorySegment.ofArray(new byte[] {i})).cancel(true);
            client.async().read(local, 0, SIZE, remote.remoteMemory()).cancel(true);
            if (i % 10 == 9) {
                for (int j = i - 9; j <= i; j++) {
                    try (Message message = server.receive(Peers.TIMEOUT)) {
                        assertThat(message.toArray()).containsExactly(j);
                    }
                }
            }
        }
        Flavour.get(client.async().read(local, 0, SIZE, remote.remoteMemory()));
        assertThat(bytes(local, 0, SIZE)).isEqualTo(bytes(remote, 0, SIZE));
    }

    @ParameterizedTest
    @EnumSource
    void partsOfRegionsAreSent(Flavour flavour) throws Exception {
        for (int length : new int[] {0, 1, 1000}) {
            flavour.send(client, local, 77, length);
            try (Message message = server.receive(Peers.TIMEOUT)) {
                assertThat(message.toArray()).isEqualTo(bytes(local, 77, length));
                assertThat(message.hasImmediate()).isFalse();
            }
        }
        assertThat(client.counters().messagesSent()).isEqualTo(3);
        assertThat(client.counters().bytesSent()).isEqualTo(1001);
    }

    @ParameterizedTest
    @EnumSource
    void messagesCarryImmediateValues(Flavour flavour) throws Exception {
        for (int immediate : new int[] {0, 1, -1, 0x01020304, Integer.MIN_VALUE}) {
            flavour.sendWithImmediate(client, local, 5, 10, immediate);
            try (Message message = server.receive(Peers.TIMEOUT)) {
                assertThat(message.toArray()).isEqualTo(bytes(local, 5, 10));
                assertThat(message.hasImmediate()).isTrue();
                assertThat(message.immediate()).isEqualTo(immediate);
                assertThat(message.isRemoteWrite()).isFalse();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void thePeersMemoryIsRead(Flavour flavour) throws Exception {
        byte[] before = bytes(local, 0, SIZE);
        flavour.read(client, local, 100, 1234, remote.remoteMemory().slice(9));
        assertThat(bytes(local, 100, 1234)).isEqualTo(bytes(remote, 9, 1234));
        System.arraycopy(bytes(remote, 9, 1234), 0, before, 100, 1234);
        assertThat(bytes(local, 0, SIZE)).isEqualTo(before);
        assertThat(client.counters().operations()).isEqualTo(1);
        assertThat(client.counters().operationBytes()).isEqualTo(1234);
    }

    @ParameterizedTest
    @EnumSource
    void thePeersMemoryIsWritten(Flavour flavour) throws Exception {
        byte[] before = bytes(remote, 0, SIZE);
        flavour.write(client, local, 9, 1234, remote.remoteMemory().slice(100));
        System.arraycopy(bytes(local, 9, 1234), 0, before, 100, 1234);
        assertThat(bytes(remote, 0, SIZE)).isEqualTo(before);
        assertThat(server.tryReceive()).isNull();
        assertThat(client.counters().operations()).isEqualTo(1);
        assertThat(client.counters().operationBytes()).isEqualTo(1234);
    }

    @ParameterizedTest
    @EnumSource
    void aWriteWithAnImmediateValueIsReceivedInOrder(Flavour flavour) throws Exception {
        flavour.send(client, new byte[] {1});
        flavour.writeWithImmediate(client, local, 0, 2000, remote.remoteMemory(), -7);
        flavour.writeWithImmediate(client, local, 0, 0, remote.remoteMemory(), 8);
        flavour.send(client, new byte[] {2});
        try (Message first = server.receive(Peers.TIMEOUT); Message second = server.receive(Peers.TIMEOUT);
                Message third = server.receive(Peers.TIMEOUT); Message fourth = server.receive(Peers.TIMEOUT)) {
            assertThat(first.toArray()).containsExactly(1);
            assertThat(second.isRemoteWrite()).isTrue();
            assertThat(second.hasImmediate()).isTrue();
            assertThat(second.immediate()).isEqualTo(-7);
            assertThat(second.length()).isEqualTo(2000);
            assertThat(second.memory().byteSize()).isZero();
            assertThat(bytes(remote, 0, 2000)).isEqualTo(bytes(local, 0, 2000));
            assertThat(third.isRemoteWrite()).isTrue();
            assertThat(third.immediate()).isEqualTo(8);
            assertThat(third.length()).isZero();
            assertThat(fourth.toArray()).containsExactly(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void valuesAreComparedAndSwapped(Flavour flavour) throws Exception {
        remote.memory().set(ValueLayout.JAVA_LONG, 16, 41);
        RemoteMemory value = remote.remoteMemory().slice(16, 8);
        assertThat(flavour.compareAndSwap(client, value, 40, 1)).isEqualTo(41);
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG, 16)).isEqualTo(41);
        assertThat(flavour.compareAndSwap(client, value, 41, Long.MIN_VALUE)).isEqualTo(41);
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG, 16)).isEqualTo(Long.MIN_VALUE);
        assertThat(client.counters().operations()).isEqualTo(2);
        assertThat(client.counters().operationBytes()).isEqualTo(16);
    }

    @ParameterizedTest
    @EnumSource
    void valuesAreAdded(Flavour flavour) throws Exception {
        remote.memory().set(ValueLayout.JAVA_LONG, 24, -1);
        RemoteMemory value = remote.remoteMemory().slice(24);
        assertThat(flavour.fetchAndAdd(client, value, 8)).isEqualTo(-1);
        assertThat(flavour.fetchAndAdd(client, value, Long.MAX_VALUE)).isEqualTo(7);
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG, 24)).isEqualTo(Long.MAX_VALUE + 7);
    }

    @ParameterizedTest
    @EnumSource
    void theLastEightBytesAreChanged(Flavour flavour) throws Exception {
        RemoteMemory last = remote.remoteMemory().slice(SIZE - Long.BYTES);
        remote.memory().set(ValueLayout.JAVA_LONG, SIZE - Long.BYTES, 1);
        assertThat(flavour.fetchAndAdd(client, last, 2)).isEqualTo(1);
        assertThat(flavour.compareAndSwap(client, last, 3, -4)).isEqualTo(3);
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG, SIZE - Long.BYTES)).isEqualTo(-4);
    }

    /** More than there are buffers, so that each of them is given back. */
    @ParameterizedTest
    @EnumSource
    void manyAtomicOperationsOneAfterTheOther(Flavour flavour) throws Exception {
        remote.memory().set(ValueLayout.JAVA_LONG, 0, 0);
        for (int i = 0; i < 50; i++) {
            assertThat(flavour.fetchAndAdd(client, remote.remoteMemory(), 1)).isEqualTo(i);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatThePeerDoesNotPermitFailsAndEndsTheConnection(Flavour flavour) throws Exception {
        RdmaTestDevice.assumeNotIwarp("what is sent or written succeeds before the peer has taken it");
        RemoteMemory wrong = new RemoteMemory(remote.remoteAddress(), remote.remoteKey() + 1, 8);
        try (Background<Void> receiving = Background.run(() -> client.receive(Peers.LONG)).awaitAsleep()) {
            assertThatThrownBy(() -> flavour.write(client, local, 0, 8, wrong))
                    .isInstanceOf(WorkCompletionException.class).hasMessageContaining("REM_ACCESS_ERR");
            assertThatThrownBy(receiving::result).isInstanceOf(WorkCompletionException.class)
                    .hasMessageContaining("REM_ACCESS_ERR");
        }
        for (Flavour later : Flavour.values()) {
            assertThatThrownBy(() -> later.send(client, new byte[1])).isInstanceOf(WorkCompletionException.class)
                    .hasMessageContaining("REM_ACCESS_ERR");
            assertThatThrownBy(() -> later.read(client, local, 0, 8, remote.remoteMemory()))
                    .isInstanceOf(WorkCompletionException.class).hasMessageContaining("REM_ACCESS_ERR");
            assertThatThrownBy(() -> later.fetchAndAdd(client, remote.remoteMemory(), 1))
                    .isInstanceOf(WorkCompletionException.class).hasMessageContaining("REM_ACCESS_ERR");
        }
        assertThat(client.isConnected()).isFalse();
        assertThat(client.queue().free()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void anAtomicOperationThatIsNotPermittedFails(Flavour flavour) throws Exception {
        RdmaTestDevice.assumeNotIwarp("it has no atomic operations");
        try (MemoryRegion readOnly = server.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_READ)) {
            assertThatThrownBy(() -> flavour.compareAndSwap(client, readOnly.remoteMemory(), 0,
                    1)).isInstanceOf(WorkCompletionException.class).hasMessageContaining("REM_ACCESS_ERR");
            server.close();
        }
    }

    private void assertRefused(Class<? extends Exception> type, Background.Action action) throws Exception {
        ConnectionCounters before = client.counters();
        assertThatThrownBy(action::run).isInstanceOf(type);
        ConnectionCounters after = client.counters();
        assertThat(after.messagesSent()).isEqualTo(before.messagesSent());
        assertThat(after.operations()).isEqualTo(before.operations());
        assertThat(client.queue().free()).isEqualTo(32);
    }

    private void assertStillWorks(Flavour flavour) throws Exception {
        assertThat(client.isConnected()).isTrue();
        assertThat(server.tryReceive()).isNull();
        flavour.send(client, local, 0, 8);
        try (Message message = server.receive(Peers.TIMEOUT)) {
            assertThat(message.toArray()).isEqualTo(bytes(local, 0, 8));
        }
        flavour.read(client, local, 0, 8, remote.remoteMemory());
        assertThat(bytes(local, 0, 8)).isEqualTo(bytes(remote, 0, 8));
    }

    @ParameterizedTest
    @EnumSource
    void aRegionOfAnotherDomainIsRefused(Flavour flavour) throws Exception {
        try (ProtectionDomain domain = client.protectionDomain().context().allocateProtectionDomain();
                MemoryRegion foreign = domain.allocate(64, AccessFlag.LOCAL_WRITE)) {
            assertRefused(IllegalArgumentException.class, () -> flavour.send(client, foreign, 0, 8));
            assertRefused(IllegalArgumentException.class,
                    () -> flavour.write(client, foreign, 0, 8, remote.remoteMemory()));
            assertRefused(IllegalArgumentException.class, () -> client.queue().fetchAndAdd(foreign, 0,
                    remote.remoteMemory(), 0, 1, (who, context, failure) -> { }, 0));
            assertStillWorks(flavour);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsOutOfRangeIsRefused(Flavour flavour) throws Exception {
        for (long[] part : new long[][] {{-1, 8}, {0, SIZE + 1}, {SIZE, 1}, {SIZE + 1, 0}, {0, -1},
            {Long.MAX_VALUE, 2}}) {
            assertRefused(IndexOutOfBoundsException.class,
                    () -> flavour.send(client, local, part[0], (int) part[1]));
            assertRefused(IndexOutOfBoundsException.class, () -> flavour.read(client, local, part[0], (int) part[1],
                    remote.remoteMemory()));
        }
        assertRefused(IndexOutOfBoundsException.class, () -> client.queue().compareAndSwap(local, SIZE - 7,
                remote.remoteMemory(), 0, 1, 2, (who, context, failure) -> { }, 0));
        assertStillWorks(flavour);
    }

    /** The peer's device would refuse it too, but end the connection. */
    @ParameterizedTest
    @EnumSource
    void whatIsBeyondTheRemoteMemoryIsRefusedBeforeThePeerIsAsked(Flavour flavour) throws Exception {
        RemoteMemory some = remote.remoteMemory().slice(100, 8);
        assertRefused(IndexOutOfBoundsException.class, () -> flavour.read(client, local, 0, 9, some));
        assertRefused(IndexOutOfBoundsException.class, () -> flavour.write(client, local, 0, 9, some));
        assertRefused(IndexOutOfBoundsException.class, () -> flavour.writeWithImmediate(client, local, 0, 9, some, 1));
        assertRefused(IndexOutOfBoundsException.class, () -> flavour.fetchAndAdd(client, some.slice(4), 1));
        assertRefused(NullPointerException.class, () -> flavour.write(client, local, 0, 8, null));
        assertRefused(NullPointerException.class, () -> flavour.fetchAndAdd(client, null, 1));
        for (long offset : new long[] {-1, 1, Long.MAX_VALUE}) {
            assertRefused(IndexOutOfBoundsException.class,
                    () -> client.queue().write(local, 0, 8, some, offset, null, 0));
        }
        assertStillWorks(flavour);
    }

    @ParameterizedTest
    @EnumSource
    void aClosedRegionIsRefused(Flavour flavour) throws Exception {
        MemoryRegion closed = client.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE);
        closed.close();
        assertRefused(IllegalStateException.class, () -> flavour.send(client, closed, 0, 8));
        assertRefused(IllegalStateException.class,
                () -> flavour.read(client, closed, 0, 8, remote.remoteMemory()));
        assertStillWorks(flavour);
    }

    @ParameterizedTest
    @EnumSource
    void anAtomicOperationOnAnOddAddressIsRefused(Flavour flavour) throws Exception {
        for (int odd : new int[] {1, 4, 7}) {
            assertRefused(IllegalArgumentException.class, () -> flavour.compareAndSwap(client,
                    remote.remoteMemory().slice(odd), 1, 2));
            assertRefused(IllegalArgumentException.class, () -> flavour.fetchAndAdd(client,
                    remote.remoteMemory().slice(odd), 1));
        }
        assertStillWorks(flavour);
    }
}
