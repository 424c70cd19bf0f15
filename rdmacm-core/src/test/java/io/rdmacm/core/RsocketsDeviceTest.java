// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.List;

import io.rdmacm.bindings.NativeLibrary;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.testing.CSocket;
import io.rdmacm.core.testing.CSocket.Transfer;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The functions of {@code rsocket.h}, between two sockets of this process. */
@RequiresRdma
class RsocketsDeviceTest {
    private static final int EPOLL_CTL_ADD = 1;

    private final Arena arena = Arena.ofConfined();
    private CSocket listener;

    @BeforeEach
    void listen() throws RdmaException {
        listener = CSocket.listen(RdmaTestDevice.get().ipv4());
    }

    @AfterEach
    void close() throws RdmaException {
        listener.close();
        arena.close();
    }

    @Test
    @Covers({"rsocket", "rbind", "rlisten", "raccept", "rconnect", "rgetsockname", "rgetpeername", "rfcntl"})
    void twoSocketsConnect() throws RdmaException {
        try (CSocket.Pair pair = CSocket.pair(listener)) {
            assertThat(pair.client().remoteAddress()).isEqualTo(listener.localAddress());
            assertThat(pair.server().remoteAddress()).isEqualTo(pair.client().localAddress());
            assertThat(pair.server().isNonBlocking()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({"SEND,RECV", "WRITE,READ", "WRITEV,READV", "SENDTO,RECVFROM", "SENDMSG,RECVMSG"})
    @Covers({"rsend", "rrecv", "rwrite", "rread", "rwritev", "rreadv", "rsendto", "rrecvfrom", "rsendmsg", "rrecvmsg",
        "rpoll"})
    void whatIsSentComesBack(Transfer send, Transfer receive) throws RdmaException {
        MemorySegment data = arena.allocate(50_000);
        data.copyFrom(MemorySegment.ofArray(Streams.data(1, 50_000)));
        MemorySegment there = arena.allocate(data.byteSize());
        MemorySegment back = arena.allocate(data.byteSize());
        try (CSocket.Pair pair = CSocket.pair(listener)) {
            assertThat(pair.server().transfer(receive, there, 0)).isEqualTo(CSocket.WOULD_WAIT);

            assertThat(pair.client().transferAll(send, data)).isEqualTo(data.byteSize());
            assertThat(pair.server().transferAll(receive, there)).isEqualTo(data.byteSize());
            assertThat(pair.server().transferAll(send, there)).isEqualTo(data.byteSize());
            assertThat(pair.client().transferAll(receive, back)).isEqualTo(data.byteSize());
        }
        assertThat(back.mismatch(data)).isEqualTo(-1);
    }

    @Test
    @Covers({"rpoll", "rselect"})
    void aSocketIsReadableWhenDataHasArrived() throws RdmaException {
        try (CSocket.Pair pair = CSocket.pair(listener)) {
            assertThat(pair.server().poll(Rdma.POLLIN() | Rdma.POLLOUT())).isEqualTo(Rdma.POLLOUT());
            assertThat(pair.server().isReadableBySelect()).isFalse();

            pair.client().send(arena.allocateFrom("hello"));

            assertThat(pair.server().await(Rdma.POLLIN())).isEqualTo(Rdma.POLLIN());
            assertThat(pair.server().isReadableBySelect()).isTrue();
        }
    }

    @Test
    @Covers({"rshutdown", "rclose"})
    void aStreamEndsAfterItsLastByte() throws RdmaException {
        try (CSocket.Pair pair = CSocket.pair(listener)) {
            pair.client().send(arena.allocateFrom("bye"));
            pair.client().shutdown(Rdma.SHUT_RDWR());

            MemorySegment received = arena.allocate(100);
            assertThat(pair.server().transferAll(Transfer.RECV, received)).isEqualTo(4);
            assertThat(received.getString(0)).isEqualTo("bye");
        }
    }

    @Test
    @Covers({"rsetsockopt", "rgetsockopt"})
    void optionsAreReadAsTheyWereSet() throws RdmaException {
        try (CSocket socket = CSocket.open()) {
            for (List<Integer> option : List.of(
                    List.of(Rdma.SOL_SOCKET(), Rdma.SO_REUSEADDR(), 1),
                    List.of(Rdma.IPPROTO_TCP(), Rdma.TCP_NODELAY(), 1),
                    List.of(Rdma.SOL_RDMA(), Rdma.RDMA_SQSIZE(), 64),
                    List.of(Rdma.SOL_RDMA(), Rdma.RDMA_RQSIZE(), 96),
                    List.of(Rdma.SOL_RDMA(), Rdma.RDMA_INLINE(), 32),
                    List.of(Rdma.SOL_RDMA(), Rdma.RDMA_IOMAPSIZE(), 8))) {
                socket.option(option.get(0), option.get(1), option.get(2));

                assertThat(socket.option(option.get(0), option.get(1))).describedAs("option %s", option)
                        .isEqualTo(option.get(2));
            }
            // As those of TCP, buffers become twice as large.
            for (int buffer : List.of(Rdma.SO_SNDBUF(), Rdma.SO_RCVBUF())) {
                socket.option(Rdma.SOL_SOCKET(), buffer, 32768);

                assertThat(socket.option(Rdma.SOL_SOCKET(), buffer)).isEqualTo(65536);
            }
            assertThatThrownBy(() -> socket.option(Rdma.SOL_RDMA(), 77, 1))
                    .isInstanceOf(RdmaUnsupportedException.class).hasMessageStartingWith("rsetsockopt");
        }
    }

    @Test
    @Covers({"riomap", "riounmap", "riowrite"})
    void aPeerWritesToPublishedMemory() throws RdmaException {
        MemorySegment published = arena.allocate(4096);
        MemorySegment data = arena.allocateFrom("written from afar");
        try (CSocket client = CSocket.open()) {
            client.option(Rdma.SOL_RDMA(), Rdma.RDMA_IOMAPSIZE(), 1);
            client.connect(listener.localAddress());
            try (CSocket server = listener.accept()) {
                assertThat(client.finishConnect()).isZero();
                assertThat(server.map(published, Rdma.PROT_WRITE(), 1000)).isEqualTo(1000);
                // What has been published is sent before the next data.
                sendOneByte(server, client);

                assertThat(client.write(data, 1100)).isEqualTo(data.byteSize());
                sendOneByte(client, server);

                assertThat(published.getString(100)).isEqualTo("written from afar");
                server.unmap(published);
            }
        }
    }

    @Test
    void aRefusedConnectionIsReported() throws RdmaException {
        try (CSocket free = CSocket.open(); CSocket client = CSocket.open()) {
            free.bind(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));

            assertThat(connect(client, free.localAddress())).isEqualTo(Rdma.ECONNREFUSED());
        }
    }

    /** Returns the error that a connect ends with. Since rdma-core 65 it is sometimes known at once. */
    private static int connect(CSocket client, InetSocketAddress address) throws RdmaException {
        try {
            client.connect(address);
        } catch (RdmaException e) {
            return e.errno();
        }
        return client.finishConnect();
    }

    /** With rdma-core 65; what is there before says what is missing. */
    @Test
    @Covers({"repoll_create", "repoll_ctl", "repoll_wait"})
    void aSocketIsWatchedWithOthers() throws RdmaException {
        NativeFunction create = NativeFunction.of("repoll_create");
        if (!create.isAvailable()) {
            String installed = NativeLibrary.LIBRDMACM.release().map(release -> " " + release).orElse("");
            for (String name : List.of("repoll_create", "repoll_ctl", "repoll_wait")) {
                NativeFunction function = NativeFunction.of(name);
                assertThatExceptionOfType(NativeLibraryException.class)
                        .isThrownBy(() -> function.callInt(-1, -1, -1, -1))
                        .withMessage("librdmacm.so.1 has no function " + name + ", which came with rdma-core 65 "
                                + "(symbol version RDMACM_1.5): the installed rdma-core" + installed
                                + " is too old, update the package librdmacm1");
            }
            return;
        }
        MemorySegment event = arena.allocate(16, 8);
        event.set(ValueLayout.JAVA_INT, 0, Rdma.POLLIN());
        int epoll = Check.minusOne(create, Rdma.repoll_create(0));
        try (CSocket.Pair pair = CSocket.pair(listener)) {
            assertThat(Rdma.repoll_ctl(epoll, EPOLL_CTL_ADD, pair.server().fd(), event)).isZero();
            assertThat(Rdma.repoll_ctl(epoll, EPOLL_CTL_ADD, pair.server().fd(), event))
                    .as("the second time").isNotZero();
            assertThat(Rdma.repoll_wait(epoll, event, 1, 0)).isZero();

            pair.client().send(arena.allocateFrom("hello"));

            int milliseconds = (int) Loopback.TIMEOUT.toMillis();
            assertThat(Rdma.repoll_wait(epoll, event, 1, milliseconds)).isEqualTo(1);
            assertThat(event.get(ValueLayout.JAVA_INT, 0)).isEqualTo(Rdma.POLLIN());
        } finally {
            NativeFunction.of("rclose").callInt(epoll);
        }
    }

    private void sendOneByte(CSocket from, CSocket to) throws RdmaException {
        MemorySegment one = arena.allocate(1);
        assertThat(from.transferAll(Transfer.SEND, one)).isEqualTo(1);
        assertThat(to.transferAll(Transfer.RECV, one)).isEqualTo(1);
    }
}
