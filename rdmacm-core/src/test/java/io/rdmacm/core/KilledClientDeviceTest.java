// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;

import io.rdmacm.core.testing.EndpointPair;
import io.rdmacm.core.testing.KilledPeer;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.WorkCompletion;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A client whose process is killed, in each phase of a connection: nothing here waits for it for ever. */
@RequiresRdma
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class KilledClientDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(() -> new Loopback().close());

    private KilledPeer client;
    private Endpoint notAsked;
    private Endpoint listener;
    private Endpoint untaken;
    private Endpoint connected;
    private Endpoint disconnected;
    private Background<WorkCompletion> receiving;
    private Background<Void> accepting;
    private Background<Void> taking;
    private Background<Void> disconnecting;

    @BeforeAll
    void kill() throws Exception {
        notAsked = EndpointPair.listen(EndpointAttributes.defaults());
        listener = EndpointPair.listen(EndpointAttributes.defaults());
        untaken = EndpointPair.listen(EndpointAttributes.defaults());
        client = new KilledPeer("resolving=" + port(notAsked), "connecting=" + port(listener),
                "connected=" + port(listener), "disconnecting=" + port(listener), "connecting=" + port(untaken));
        assertThat(client.line()).isEqualTo("resolving");

        Endpoint unanswered = requested();
        assertThat(client.line()).isEqualTo("connecting");

        connected = requested();
        connected.accept(ConnectionParameters.defaults(), Loopback.TIMEOUT);
        assertThat(client.line()).isEqualTo("connected");
        receiving = client.receiving(connected);

        disconnected = requested();
        disconnected.accept(ConnectionParameters.defaults(), Loopback.TIMEOUT);
        assertThat(client.line()).isEqualTo("disconnecting");
        assertThat(client.line()).isEqualTo("connecting");

        client.kill();
        accepting = client.waiting(() -> unanswered.accept(ConnectionParameters.defaults(), KilledPeer.LONG));
        taking = client.waiting(() -> {
            // a device may make the queue pair although nobody is there; then the accept fails
            try (Endpoint server = untaken.getRequest(Loopback.TIMEOUT)) {
                server.accept(ConnectionParameters.defaults(), KilledPeer.LONG);
            }
        });
        disconnecting = client.waiting(() -> disconnected.disconnect(KilledPeer.LONG));
    }

    @AfterAll
    void close() throws Exception {
        if (client != null) {
            client.close();
        }
        for (Endpoint open : new Endpoint[] {notAsked, listener, untaken}) {
            if (open != null) {
                open.close();
            }
        }
    }

    @Test
    void whileItResolves() throws Exception {
        assertThatThrownBy(() -> notAsked.getRequest(Duration.ofMillis(50))).isInstanceOf(RdmaTimeoutException.class);
        EndpointPair.connect(notAsked, EndpointAttributes.defaults()).close();
    }

    @Test
    void beforeItIsAnswered() throws Exception {
        // the accept is refused, or is answered by one of the events that say that nobody is there
        assertThatThrownBy(accepting::result).isInstanceOf(RdmaException.class)
                .isNotInstanceOf(RdmaTimeoutException.class);
        client.print("client killed before it is answered", accepting);
        EndpointPair.connect(listener, EndpointAttributes.defaults()).close();
    }

    @Test
    void beforeItsRequestIsTaken() throws Exception {
        assertThatThrownBy(taking::result).isInstanceOf(RdmaException.class)
                .isNotInstanceOf(RdmaTimeoutException.class);
        client.print("client killed before its request is taken", taking);
        EndpointPair.connect(untaken, EndpointAttributes.defaults()).close();
    }

    @Test
    void whenConnected() throws Exception {
        client.assertEnds(connected, receiving, "client killed when connected");
    }

    @Test
    void whileItDisconnects() throws Exception {
        disconnecting.result();
        client.print("client killed while it disconnects", disconnecting);
        assertThatThrownBy(() -> disconnected.getReceiveCompletion(KilledPeer.LONG))
                .isInstanceOf(DisconnectedException.class);
    }

    private static int port(Endpoint listener) {
        return listener.localAddress().getPort();
    }

    private Endpoint requested() throws Exception {
        return client.closing(listener.getRequest(Loopback.TIMEOUT));
    }
}
