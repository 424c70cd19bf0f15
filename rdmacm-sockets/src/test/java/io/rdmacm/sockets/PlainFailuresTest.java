// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
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
}
