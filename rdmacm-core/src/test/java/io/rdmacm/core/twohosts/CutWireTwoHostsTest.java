// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.time.Duration;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.UnreachableException;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The wire is cut somewhere between the hosts, for a short or a long time, and put together again. */
@RequiresTwoHosts
class CutWireTwoHostsTest {
    private static final Duration CUT = Duration.ofSeconds(1);

    private InUse before;

    @BeforeEach
    void count() throws Exception {
        before = InUse.before();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        OtherHost.mend();
        before.assertAgain();
    }

    private static Client writer(Arena arena, AckTimeout ackTimeout) throws Exception {
        return Client.writer(arena, ackTimeout, Client.SIX_RETRIES);
    }

    @Test
    void withinTheRetryTimeTheTransferGoesOn() throws Exception {
        try (Arena arena = Arena.ofShared(); Client client = writer(arena, Client.VERY_PATIENT)) {
            client.move(0);
            OtherHost.cut();
            Measured measured = Measured.fromNow();
            client.post(1);
            // the length of the fault
            Thread.sleep(CUT);
            assertThat(OtherHost.lostPackets()).isPositive();
            OtherHost.mend();
            assertThat(client.completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            measured.print("a write over a wire cut for " + CUT.toSeconds() + " s, 6 retries of 4.3 s: SUCCESS");
            client.move(2);
        }
    }

    @Test
    void beyondTheRetryTimeTheWorkFailsAndAFreshConnectionWorks() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            Measured closing;
            try (Client client = writer(arena, Client.PATIENT)) {
                client.move(0);
                OtherHost.cut();
                Measured measured = Measured.fromNow();
                client.post(1);
                client.post(2);
                assertThat(client.completion().status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
                measured.print("a write over a cut wire, 6 retries of 0.5 s: RETRY_EXC_ERR");
                assertThat(client.completion().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
                assertThat(client.endpoint().queuePair().orElseThrow().state()).isEqualTo(QueuePairState.ERROR);
                closing = Measured.fromNow();
            }
            closing.print("close of an endpoint whose peer is cut off");
            OtherHost.mend();
            try (Client client = writer(arena, Client.PATIENT)) {
                client.move(0);
            }
        }
    }

    @Test
    void anAddressThatDoesNotAnswer() throws Exception {
        Measured measured = Measured.fromNow();
        try (Endpoint endpoint = Endpoint.open(PortSpace.TCP)) {
            // the kernel's time is up, or that of the wait for it
            assertThatThrownBy(() -> endpoint.resolveAddress(null, OtherHost.neighbour(99), Duration.ofSeconds(3)))
                    .isInstanceOfAny(UnreachableException.class, RdmaTimeoutException.class);
        }
        measured.print("an address that nobody has, time-out 3 s: UnreachableException or RdmaTimeoutException");
    }

    @Test
    void aConnectWaitsForTheWireAsLongAsItIsTold() throws Exception {
        try (Line line = OtherHost.play(Silent.class, "listening");
                Endpoint client = Client.resolved((int) line.hearNumber(), Client.PATIENT)) {
            OtherHost.cut();
            Measured measured = Measured.fromNow();
            assertThatThrownBy(() -> client.connect(Client.SIX_RETRIES, Duration.ofSeconds(2)))
                    .isInstanceOf(RdmaTimeoutException.class);
            measured.print("connect over a cut wire, time-out 2 s: RdmaTimeoutException");
        }
    }

    @Test
    void aConnectGoesOnWhenTheWireIsMended() throws Exception {
        try (Line line = OtherHost.play(Silent.class, "accepted");
                Endpoint client = Client.resolved((int) line.hearNumber(), Client.PATIENT)) {
            OtherHost.cut();
            Measured measured = Measured.fromNow();
            try (Background<Void> connecting = Background.run(
                    () -> client.connect(Client.SIX_RETRIES, Server.TIMEOUT))) {
                connecting.awaitInside(Poller.class, "await");
                OtherHost.mend();
                connecting.result();
            }
            measured.print("connect over a wire that is mended: connected");
        }
    }

    @Test
    void aPeerThatClosesIsSeenAtOnce() throws Exception {
        try (Line line = OtherHost.play(Silent.class, "accepted");
                Endpoint client = Client.connect((int) line.hearNumber(), Client.PATIENT, Client.SIX_RETRIES)) {
            assertThat(line.hear()).isEqualTo("requested");
            assertThat(line.hear()).isEqualTo("accepted");
            Measured measured = Measured.fromNow();
            line.say("that is enough");
            assertThatThrownBy(() -> client.getReceiveCompletion(Server.TIMEOUT))
                    .isInstanceOf(DisconnectedException.class);
            measured.print("the peer closes: DisconnectedException");
        }
    }
}
