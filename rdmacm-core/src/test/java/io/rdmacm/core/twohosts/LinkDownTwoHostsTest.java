// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.time.Duration;

import io.rdmacm.verbs.AsyncEvent;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The interface of a host goes down under a connection, and comes up again. On hosts of their own, and all connections
 * are made before: with Linux 6.1, SoftRoCE on an interface that was down while a queue pair was connected receives no
 * connection requests any more, from C programs either.
 */
@RequiresTwoHosts
@Tag("alone")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LinkDownTwoHostsTest {
    private static final Duration CUT = Duration.ofSeconds(1);

    private final Arena arena = Arena.ofShared();
    private InUse before;
    private Client within;
    private Client beyond;
    private Client here;

    @BeforeAll
    void connect() throws Exception {
        before = InUse.before();
        within = Client.writer(arena, Client.VERY_PATIENT, Client.SIX_RETRIES);
        beyond = Client.writer(arena, Client.PATIENT, Client.SIX_RETRIES);
        here = Client.writer(arena, Client.PATIENT, Client.SIX_RETRIES);
    }

    @Test
    @Order(1)
    void theOtherHostsWithinTheRetryTimeTheTransferGoesOn() throws Exception {
        within.move(0);
        linkThere("down");
        Measured measured = Measured.fromNow();
        within.post(1);
        // the length of the fault
        Thread.sleep(CUT);
        linkThere("up");
        assertThat(within.completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        measured.print("a write while the other host's link is down for " + CUT.toSeconds()
                + " s, 6 retries of 4.3 s: SUCCESS");
        within.move(2);
        within.close();
    }

    @Test
    @Order(2)
    void theOtherHostsBeyondTheRetryTimeTheWorkFails() throws Exception {
        beyond.move(0);
        linkThere("down");
        Measured measured = Measured.fromNow();
        beyond.post(1);
        assertThat(beyond.completion().status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        measured.print("a write while the other host's link is down, 6 retries of 0.5 s: RETRY_EXC_ERR");
        beyond.close();
        linkThere("up");
    }

    @Test
    @Order(3)
    void thisHostsIsToldByEventsOfThePort() throws Exception {
        try (VerbsContext context = openDevice()) {
            here.move(0);
            Measured measured = Measured.fromNow();
            OtherHost.shellHere("ip link set " + OtherHost.WIRE + " down");
            assertThat(next(context)).isEqualTo(AsyncEventType.PORT_ERR);
            measured.print("this host's link goes down: PORT_ERR");
            here.post(1);
            OtherHost.shellHere("ip link set " + OtherHost.WIRE + " up");
            assertThat(next(context)).isEqualTo(AsyncEventType.PORT_ACTIVE);
            WorkCompletion completion = here.completion();
            measured.print("a write while this host's link is down: " + completion.status());
            assertThat(completion.workRequestId()).isEqualTo(1);
        }
        here.close();
    }

    @Test
    @Order(4)
    void nothingIsLeft() throws Exception {
        arena.close();
        before.assertAgain();
    }

    private static void linkThere(String state) throws Exception {
        OtherHost.shell("ip link set " + OtherHost.WIRE + " " + state);
    }

    private static VerbsContext openDevice() throws Exception {
        return Device.list().stream().filter(device -> device.name().equals(RdmaTestDevice.get().name())).findFirst()
                .orElseThrow().open();
    }

    private static AsyncEventType next(VerbsContext context) throws Exception {
        while (true) {
            try (AsyncEvent event = context.getAsyncEvent(Server.TIMEOUT)) {
                if (event.type() != AsyncEventType.GID_CHANGE) {
                    return event.type();
                }
            }
        }
    }
}
