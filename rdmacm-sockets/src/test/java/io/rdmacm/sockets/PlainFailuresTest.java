// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;

import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.Test;

class PlainFailuresTest {
    @Test
    void theFailuresOfChannelsAreThoseOfSockets() {
        assertThat(PlainFailures.of(new AsynchronousCloseException(), true))
                .isInstanceOf(SocketException.class).hasMessage("Socket closed");
        assertThat(PlainFailures.of(new ClosedChannelException(), false))
                .isInstanceOf(SocketException.class).hasMessage("Broken pipe");
        assertThat(PlainFailures.of(new IOException("the peer is gone"), false))
                .isInstanceOf(SocketException.class).hasMessage("the peer is gone");
    }

    @Test
    void thoseOfSocketsStayAsTheyAre() {
        for (IOException failure : new IOException[] {new ConnectException("refused"),
                new SocketTimeoutException("Read timed out")}) {
            assertThat(PlainFailures.of(failure, true)).isSameAs(failure);
        }
    }

    @Test
    void anInterruptEndsTheOperationOfAVirtualThreadOnly() throws Exception {
        assertThat(PlainFailures.of(new ClosedByInterruptException(), true))
                .isInstanceOf(SocketException.class).hasMessage("Socket closed");
        try (Background<IOException> virtual = Background.virtual(
                () -> PlainFailures.of(new ClosedByInterruptException(), true))) {
            assertThat(virtual.result()).isInstanceOf(InterruptedIOException.class);
        }
    }

    @Test
    void aReadOfNoBytesDoesNotForgetTheEnd() throws Exception {
        ByteArrayInputStream empty = new ByteArrayInputStream(new byte[0]);
        Socket view = new Socket() {
            @Override
            public InputStream getInputStream() throws IOException {
                return new FilterInputStream(empty) {
                    @Override
                    public int read(byte[] bytes, int offset, int length) throws IOException {
                        if (isClosed()) {
                            throw new ClosedChannelException();
                        }
                        return length == 0 ? 0 : super.read(bytes, offset, length);
                    }
                };
            }
        };
        PlainFailures.Input input = new PlainFailures.Input(view);
        assertThat(input.read()).isEqualTo(-1);
        assertThat(input.read(new byte[0])).isZero();
        view.close();
        assertThat(input.read()).isEqualTo(-1);
    }
}
