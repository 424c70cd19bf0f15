// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.rdmacm.core.RejectedException;
import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.NoWorkers;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Futures come to their end although no thread can be started for that. */
@RequiresRdma
class ShortOfThreadsDeviceTest {
    private static CompletableFuture<Connection> connect(Peers peers) {
        return peers.clients.connectAsync(peers.listener.address(), ConnectionSettings.defaults(), Peers.TIMEOUT);
    }

    @Test
    void theEndOfAListenerNeedsNoThread() throws Exception {
        try (Peers peers = new Peers()) {
            CompletableFuture<Connection> accepting = peers.listener.acceptAsync();
            try (var _ = new NoWorkers()) {
                peers.listener.close();
                assertThatThrownBy(() -> Flavour.get(accepting)).isInstanceOf(RdmaClosedException.class);
            }
        }
    }

    @Test
    void whoWaitsIsToldThatHandlersTakeAll() throws Exception {
        try (Peers peers = new Peers(8, ConnectionSettings.builder().handler(new ConnectionHandler() { }).build())) {
            List<CompletableFuture<Connection>> accepting = List.of(peers.listener.acceptAsync(),
                    peers.listener.acceptAsync());
            try (var _ = new NoWorkers()) {
                peers.listener.acceptAll();
                for (CompletableFuture<Connection> future : accepting) {
                    assertThatThrownBy(() -> Flavour.get(future)).isInstanceOf(IllegalStateException.class);
                }
            }
        }
    }

    @Test
    void theEndOfAConnectNeedsNoThread() throws Exception {
        try (Peers peers = new Peers(); var _ = new NoWorkers()) {
            peers.listener.close();
            CompletableFuture<Connection> connecting = connect(peers);
            assertThatThrownBy(() -> Flavour.get(connecting)).isInstanceOf(RejectedException.class);
            peers.clients.close();
        }
    }
}
