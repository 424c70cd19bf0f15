// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.UnreachableException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.ResourceCounts;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The other host is powered off while a thread of this one is busy with it in each phase of a connection. What the
 * threads see is looked at afterwards, one phase a test. On hosts of their own: nothing can be tested after it.
 */
@RequiresTwoHosts
@Tag("alone")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PowerOffTwoHostsTest {
    private static final int SECOND_ADDRESS = 77;
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String WITHIN_LIMIT = ", time-out " + LIMIT.toSeconds() + " s";

    private final Arena arena = Arena.ofShared();
    private final List<AutoCloseable> open = new ArrayList<>();
    private ResourceCounts before;
    private volatile Measured sinceThePowerWentOff = Measured.fromNow();
    private Phase resolving;
    private Phase connecting;
    private Phase transferring;
    private Phase persisting;
    private Phase receiving;
    private Phase disconnecting;
    private Phase connectingLater;
    private Phase acceptingLater;

    @BeforeAll
    void powerOff() throws Exception {
        before = InUse.before().here();
        Endpoint connector = resolved("requested");
        Endpoint laterConnector = resolved("listening");
        Client writer = Client.writer(arena, Client.PATIENT, Client.SIX_RETRIES);
        Client persistent = Client.writer(arena, Client.PATIENT, ConnectionParameters.defaults());
        Endpoint receiver = connected();
        Endpoint leaver = connected();
        Endpoint listener = Endpoint.createPassive(OtherHost.here(), PortSpace.TCP, Server.attributes());
        open.add(listener);
        listener.listen(1);
        open.add(OtherHost.play(Caller.class, listener.localAddress().getPort()));
        Endpoint laterAcceptor = listener.getRequest(Server.TIMEOUT);
        Endpoint resolver = Endpoint.open(PortSpace.TCP);
        // for an address of another of its interfaces it does not answer, as long as it is there, either
        OtherHost.shell("ip addr add " + OtherHost.neighbour(SECOND_ADDRESS).getHostString() + "/32 dev lo; "
                + "echo 1 >/proc/sys/net/ipv4/conf/" + OtherHost.WIRE + "/arp_ignore");

        transferring = new Phase("transferring, 6 retries of 0.5 s", writer,
                () -> writer.moveUntilOneFails(Server.TIMEOUT)).awaitWaiting();
        persisting = new Phase("transferring, 7 retries" + WITHIN_LIMIT, persistent,
                () -> persistent.moveUntilOneFails(LIMIT)).awaitWaiting();
        disconnecting = new Phase("disconnecting", leaver, () -> leaver.disconnect(Server.TIMEOUT)).awaitWaiting();
        connecting = new Phase("connecting" + WITHIN_LIMIT, connector,
                () -> connector.connect(Client.SIX_RETRIES, LIMIT)).awaitWaiting();
        receiving = new Phase("waiting for a message" + WITHIN_LIMIT, receiver,
                () -> receiver.getReceiveCompletion(LIMIT)).awaitWaiting();
        resolving = new Phase("resolving" + WITHIN_LIMIT, resolver,
                () -> resolver.resolveAddress(null, OtherHost.neighbour(SECOND_ADDRESS), LIMIT)).awaitWaiting();

        sinceThePowerWentOff = Measured.fromNow();
        OtherHost.powerOff();
        connectingLater = new Phase("resolved, then connect", laterConnector,
                () -> laterConnector.connect(Client.SIX_RETRIES, Server.TIMEOUT));
        acceptingLater = new Phase("asking for a connection, then accept", laterAcceptor,
                () -> laterAcceptor.accept(Client.SIX_RETRIES, Server.TIMEOUT));
    }

    private Endpoint resolved(String progress) throws Exception {
        return Client.resolved(silent(progress), Client.PATIENT);
    }

    private Endpoint connected() throws Exception {
        return Client.connect(silent("accepted"), Client.PATIENT, Client.SIX_RETRIES);
    }

    private int silent(String progress) throws Exception {
        Line line = OtherHost.play(Silent.class, progress);
        open.add(line);
        return (int) line.hearNumber();
    }

    @Test
    @Order(1)
    void resolvingEndsWithItsTimeout() throws Exception {
        // the kernel's time is up, or that of the wait for it
        assertThat(resolving.seen()).isInstanceOfAny(UnreachableException.class, RdmaTimeoutException.class);
    }

    @Test
    @Order(2)
    void connectingEndsWithItsTimeout() throws Exception {
        assertThat(connecting.seen()).isInstanceOf(RdmaTimeoutException.class);
    }

    @Test
    @Order(3)
    void transferringEndsAfterTheRetries() throws Exception {
        assertThat(transferring.seen()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
    }

    /** Seven retries are endless on some devices, SoftRoCE among them. */
    @Test
    @Order(4)
    void transferringWithAllRetriesEndsAfterThemOrWithTheTimeout() throws Exception {
        assertThat(persisting.seen()).satisfiesAnyOf(
                seen -> assertThat(seen).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR),
                seen -> assertThat(seen).isInstanceOf(RdmaTimeoutException.class));
    }

    /** Nobody tells a side that sends nothing. */
    @Test
    @Order(5)
    void receivingEndsWithItsTimeout() throws Exception {
        assertThat(receiving.seen()).isInstanceOf(RdmaTimeoutException.class);
    }

    @Test
    @Order(6)
    void disconnectingEndsWhenTheKernelGivesUp() throws Exception {
        assertThat(disconnecting.seen()).isEqualTo("ended");
    }

    @Test
    @Order(7)
    void connectingLaterEndsWhenTheKernelGivesUp() throws Exception {
        assertThat(connectingLater.seen()).isInstanceOf(UnreachableException.class);
    }

    @Test
    @Order(8)
    void acceptingLaterFailsAtTheLatestWhenTheKernelGivesUp() throws Exception {
        // at once, when the kernel knows already that nobody is at that address any more
        assertThat(acceptingLater.seen()).isInstanceOf(RdmaException.class).isNotInstanceOf(RdmaTimeoutException.class);
    }

    @Test
    @Order(9)
    void nothingIsLeft() throws Exception {
        for (AutoCloseable resource : open) {
            resource.close();
        }
        arena.close();
        assertThat(ResourceCounts.await(before, Duration.ofMinutes(5))).isEqualTo(before);
    }

    /** What a thread is about when the power goes off, and what it sees then. */
    private final class Phase {
        private final String name;
        private final AutoCloseable resource;
        private final Background<Object> thread;
        private volatile Duration time;

        Phase(String name, AutoCloseable resource, Background.Action action) {
            this(name, resource, () -> {
                action.run();
                return "ended";
            });
        }

        Phase(String name, AutoCloseable resource, Callable<Object> action) {
            this.name = name;
            this.resource = resource;
            thread = Background.call(() -> {
                try {
                    return action.call();
                } catch (RdmaException e) {
                    return e;
                } finally {
                    time = sinceThePowerWentOff.time();
                }
            });
        }

        Phase awaitWaiting() {
            thread.awaitInside(Poller.class, "await");
            return this;
        }

        /** What it has seen; all of it can be closed then. */
        Object seen() throws Exception {
            Object seen = thread.result();
            String what = seen instanceof RdmaException e ? e.getClass().getSimpleName() : seen.toString();
            Measured.print("power off while " + name + ": " + what, time);
            resource.close();
            return seen;
        }
    }
}
