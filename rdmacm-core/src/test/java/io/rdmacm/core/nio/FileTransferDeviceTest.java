// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

import io.rdmacm.core.internal.nio.TimedSocketChannel;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.testing.NioProvider;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@RequiresRdma
class FileTransferDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(FileTransferDeviceTest::useOnce);

    private static final int SIZE = 300_007;
    // Of the server: small, so that each of them wraps many times.
    private static final int SEND_BUFFER = 10_000;
    private static final int RECEIVE_BUFFER = 14_080;

    @TempDir
    private Path folder;
    private byte[] data;
    private FileChannel source;
    private FileChannel target;
    private TimedSocketChannel client;
    private TimedSocketChannel server;

    private static void useOnce() throws Exception {
        NioProvider.useOnce();
        // Opens the source of random names.
        Files.delete(Files.createTempFile("once", ""));
    }

    @BeforeEach
    void open() throws IOException {
        data = Streams.data(1, SIZE);
        source = FileChannel.open(Files.write(folder.resolve("source"), data));
        target = FileChannel.open(folder.resolve("target"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try (ServerSocketChannel listening = NioProvider.RDMA.get().openServerSocketChannel()) {
            listening.setOption(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER)
                    .setOption(StandardSocketOptions.SO_RCVBUF, RECEIVE_BUFFER);
            listening.bind(new InetSocketAddress(NioProvider.RDMA.address(), 0));
            NioProvider.Pair pair = NioProvider.RDMA.pair(listening);
            client = (TimedSocketChannel) pair.client();
            server = (TimedSocketChannel) pair.server();
        }
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        server.close();
        source.close();
        target.close();
    }

    private byte[] received() throws IOException {
        return Files.readAllBytes(folder.resolve("target"));
    }

    @Test
    void allOfAFileArrivesInBothDirections() throws Exception {
        for (TimedSocketChannel from : new TimedSocketChannel[] {client, server}) {
            TimedSocketChannel to = from == client ? server : client;
            target.truncate(0);
            try (Background<Long> sending = Background.call(() -> from.send(source, 0, SIZE))) {
                assertThat(to.receive(target, 0, SIZE)).isEqualTo(SIZE);
                assertThat(sending.result()).isEqualTo(SIZE);
            }
            assertThat(received()).isEqualTo(data);
        }
    }

    @Test
    void partsOfAllLengthsArrive() throws Exception {
        // From what is sent inline to what takes several messages, each from where the last one ended in the buffer.
        long position = 0;
        for (int length : new int[] {1, 2, 63, 64, 65, 300, 4095, 20_001, 5, 9_999, 10_000, 10_001, 40_000}) {
            long from = position;
            try (Background<Long> sending = Background.call(() -> server.send(source, from, length))) {
                assertThat(client.receive(target, position, length)).isEqualTo(length);
                assertThat(sending.result()).isEqualTo(length);
            }
            position += length;
        }
        assertThat(received()).isEqualTo(Arrays.copyOf(data, (int) position));
    }

    @Test
    void nothingIsSentBehindTheEndOfAFile() throws Exception {
        // Few enough for one message, and to be sent inline.
        for (int left : new int[] {4000, 20, 0}) {
            assertThat(client.send(source, SIZE - left, SIZE)).isEqualTo(left);
            assertThat(server.receive(target, 4000 - left, left)).isEqualTo(left);
        }
        assertThat(received()).isEqualTo(Arrays.copyOfRange(data, SIZE - 4000, SIZE));
        assertThat(client.send(source, SIZE + 1L, 1)).isZero();
    }

    @Test
    void theEndOfTheStreamEndsATransfer() throws Exception {
        try (Background<Long> receiving = Background.call(() -> server.receive(target, 0, SIZE))) {
            assertThat(client.send(source, 0, 100)).isEqualTo(100);
            client.shutdownOutput();
            assertThat(receiving.result()).isEqualTo(100);
        }
        assertThat(server.receive(target, 100, 1)).isZero();
        assertThatThrownBy(() -> client.send(source, 0, 1)).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void withoutBlockingAsMuchAsThereIsRoomForIsMoved() throws Exception {
        client.configureBlocking(false);
        server.configureBlocking(false);
        assertThat(server.receive(target, 0, SIZE)).isZero();
        long sent = client.send(source, 0, SIZE);
        assertThat(sent).isBetween(1L, SIZE - 1L);
        long received = 0;
        while (received < SIZE) {
            received += server.receive(target, received, SIZE - received);
            sent += client.send(source, sent, SIZE - sent);
        }
        assertThat(received()).isEqualTo(data);
    }

    @Test
    void aTransferThatWaitsEndsWhenTheChannelIsClosed() throws Exception {
        try (Background<Long> sending = Background.call(() -> server.send(source, 0, SIZE))) {
            sending.awaitInside(RdmaStream.class, "await");
            server.close();
            // What was sent before counts, and the next one fails.
            assertThat(sending.result()).isBetween(1L, SIZE - 1L);
        }
        assertThatThrownBy(() -> server.send(source, 0, 1)).isInstanceOf(ClosedChannelException.class);
        try (Background<Long> receiving = Background.call(() -> {
            while (client.receive(target, 0, SIZE) > 0) {
                // until it is the end
            }
            return client.receive(target, 0, 1);
        })) {
            assertThat(receiving.result()).isZero();
        }
    }

    @Test
    void aReceiveThatWaitsEndsWhenTheChannelIsClosed() throws Exception {
        try (Background<Long> receiving = Background.call(() -> server.receive(target, 0, SIZE))) {
            receiving.awaitInside(RdmaStream.class, "await");
            server.close();
            assertThatThrownBy(receiving::result).isInstanceOf(AsynchronousCloseException.class);
        }
    }

    @Test
    void theFailureOfAFileIsNotThatOfTheChannel() throws Exception {
        assertThatThrownBy(() -> client.send(target, 0, 1)).isInstanceOf(NonReadableChannelException.class);
        source.close();
        assertThatThrownBy(() -> client.send(source, 0, SIZE)).isInstanceOf(ClosedChannelException.class);
        assertThat(client.write(ByteBuffer.wrap(data, 0, 3))).isEqualTo(3);
        assertThat(server.receive(target, 0, 3)).isEqualTo(3);
        assertThat(received()).isEqualTo(Arrays.copyOf(data, 3));
    }
}
