// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.forked.Peer;
import io.rdmacm.core.testing.EndpointPair;
import io.rdmacm.core.testing.KilledPeer;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A server whose process is killed, in each phase of a connection: nothing here waits for it for ever. */
@RequiresRdma
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class KilledServerDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(() -> new Loopback().close());

    private static final int WRITES = 10;

    private KilledPeer server;
    private Endpoint connected;
    private Endpoint writer;
    private Endpoint disconnected;
    private Background<Void> connecting;
    private Background<Void> connectingToNobody;
    private Background<WorkCompletion> receiving;
    private Background<Optional<WorkCompletionStatus>> writing;
    private Background<Void> disconnecting;

    @BeforeAll
    void kill() throws Exception {
        server = new KilledPeer("listening", "requested", "accepted", "written", "accepted");
        Endpoint listening = resolved();

        Endpoint requested = resolved();
        connecting = server.waiting(() -> connect(requested));
        assertThat(server.line()).isEqualTo("requested");

        connected = accepted();
        receiving = server.receiving(connected);

        writer = resolved();
        writer.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT);
        CountDownLatch underWay = new CountDownLatch(WRITES);
        String[] remote = server.line().split(" ");
        writing = server.waiting(
                () -> write(Long.parseLong(remote[0]), Integer.parseInt(remote[1]), underWay));
        assertThat(underWay.await(Loopback.TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();

        disconnected = accepted();
        // the server does not look at its events, so this waits
        disconnecting = server.waiting(() -> disconnected.disconnect(KilledPeer.LONG));
        if (!RdmaTestDevice.get().isIwarp()) {
            // of iWARP, each side ends by itself
            disconnecting.awaitInside(Poller.class, "await");
        }

        server.kill();
        connectingToNobody = server.waiting(() -> connect(listening));
    }

    @AfterAll
    void close() throws Exception {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void whileItListens() {
        assertThatThrownBy(connectingToNobody::result).isInstanceOfSatisfying(RejectedException.class,
                e -> assertThat(e.reason()).isEqualTo(RejectReason.INVALID_SERVICE_ID));
        server.print("server killed while it listens", connectingToNobody);
    }

    @Test
    void beforeItAnswers() {
        assertThatThrownBy(connecting::result).isInstanceOf(RejectedException.class);
        server.print("server killed before it answers", connecting);
    }

    @Test
    void whenConnected() throws Exception {
        server.assertEnds(connected, receiving, "server killed when connected");
    }

    @Test
    void whileItIsWrittenTo() throws Exception {
        Optional<WorkCompletionStatus> end = writing.result();
        server.print("server killed while it is written to, " + end, writing);
        end.ifPresent(status -> assertThat(status).isIn(WorkCompletionStatus.WR_FLUSH_ERR,
                WorkCompletionStatus.RETRY_EXC_ERR, WorkCompletionStatus.REM_INV_REQ_ERR,
                WorkCompletionStatus.REM_ACCESS_ERR));
        writer.disconnect(KilledPeer.LONG);
    }

    @Test
    void whileThisSideDisconnects() throws Exception {
        disconnecting.result();
        server.print("server killed while this side disconnects", disconnecting);
        assertThat(disconnected.state()).isEqualTo(CmIdState.DISCONNECTED);
    }

    /** Writes until the connection ends; empty if the library has told so before a completion did. */
    private Optional<WorkCompletionStatus> write(long address, int key, CountDownLatch underWay) throws Exception {
        MemoryRegion own = writer.registerMessages(EndpointPair.memory());
        while (true) {
            writer.postWrite(1, own, 0, Peer.BYTES, Set.of(SendFlag.SIGNALED), address, key);
            try {
                WorkCompletionStatus status = writer.getSendCompletion(KilledPeer.LONG).status();
                if (status != WorkCompletionStatus.SUCCESS) {
                    return Optional.of(status);
                }
            } catch (DisconnectedException e) {
                return Optional.empty();
            }
            underWay.countDown();
        }
    }

    private static void connect(Endpoint client) throws Exception {
        client.connect(ConnectionParameters.defaults(), KilledPeer.LONG);
    }

    private Endpoint accepted() throws Exception {
        Endpoint client = resolved();
        client.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT);
        assertThat(server.line()).isEqualTo("accepted");
        return client;
    }

    /** A client of the server's next listener. */
    private Endpoint resolved() throws Exception {
        InetSocketAddress address = new InetSocketAddress(RdmaTestDevice.get().ipv4(),
                Integer.parseInt(server.line()));
        return server.closing(Endpoint.createActive(address, PortSpace.TCP, EndpointAttributes.defaults(),
                Loopback.TIMEOUT));
    }
}
