// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static io.rdmacm.examples.testing.Kind.C;
import static io.rdmacm.examples.testing.Kind.JAVA;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.examples.testing.PingPongs;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures of the ping-pong programs: each ends with one line and status 1, and none hangs. */
@RequiresRdma
class PingPongFailureDeviceTest {
    private static final String RC = "ibv_rc_pingpong";
    private static final String FOR_EVER = "100000000";

    private static void assertFailed(Program program, String name, String pattern) throws InterruptedException {
        Program.Result result = program.result();
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.errLines()).singleElement().asString().matches(name + ": " + pattern);
    }

    private static Program start(String name, String... more) throws IOException {
        return JAVA.start(name, PingPongs.options(more));
    }

    @ParameterizedTest
    @ValueSource(strings = {RC, "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong"})
    void nobodyListens(String name) throws Exception {
        int port = Ports.freeTcp();
        try (Program client = start(name, "-p", "" + port, "127.0.0.1")) {
            assertFailed(client, name, "Couldn't connect to 127.0.0.1:" + port + ": Connection refused");
        }
    }

    @Test
    void hostOfNobody() throws Exception {
        try (Program client = start(RC, "no.such.host.invalid")) {
            assertFailed(client, RC, "Couldn't connect to no.such.host.invalid:18515: there is no such host");
        }
    }

    @Test
    void portInUse() throws Exception {
        try (ServerSocket taken = new ServerSocket(0);
                Program server = start(RC, "-p", "" + taken.getLocalPort())) {
            assertFailed(server, RC, "Couldn't listen to port " + taken.getLocalPort() + ": Address already in use");
        }
    }

    @Test
    void clientsOfAnotherKind() throws Exception {
        try (PingPongs.Server server = PingPongs.server(RC, JAVA, PingPongs.options());
                Socket client = new Socket("localhost", server.port())) {
            client.getOutputStream().write(new byte[Destination.BYTES]);
            assertFailed(server.program(), RC,
                    "the peer did not send the address of a queue pair: it is not a ping-pong program");
        }
        try (PingPongs.Server server = PingPongs.server(RC, JAVA, PingPongs.options())) {
            new Socket("localhost", server.port()).close();
            assertFailed(server.program(), RC, "the peer closed the connection before it sent its whole address");
        }
        try (PingPongs.Server server = PingPongs.server(RC, JAVA, PingPongs.options("--timeout", "1"));
                Socket silent = new Socket("localhost", server.port())) {
            assertThat(silent.isConnected()).isTrue();
            assertFailed(server.program(), RC, "no answer from the peer within 1 seconds");
        }
    }

    @Test
    void serversOfAnotherKind() throws Exception {
        try (ServerSocket server = new ServerSocket(0);
                Program client = start(RC, "--timeout", "1", "-p", "" + server.getLocalPort(), "localhost")) {
            assertFailed(client, RC, "no answer from the peer within 1 seconds");
        }
    }

    @Test
    void withoutAGid() throws Exception {
        RdmaTestDevice.assumeConnectedByHand();
        String device = RdmaTestDevice.get().name();
        try (Program server = JAVA.start(RC, "-d", device)) {
            assertFailed(server, RC, "port 1 of " + device + " is on Ethernet, where ports are addressed by GIDs:"
                    + " choose one with -g \\(ibv_devinfo -v lists them\\)");
        }
        try (Program server = JAVA.start(RC, "-d", device, "-g", "255")) {
            assertFailed(server, RC, "port 1 of " + device + " has no GID 255");
        }
        List<String> without = List.of("-d", device, "-n", "1");
        try (PingPongs.Server server = PingPongs.server(RC, JAVA, PingPongs.options("-n", "1"));
                Program client = server.client(C, without)) {
            assertFailed(server.program(), RC, "the peer uses no GID: start it with -g too");
            assertThat(client.result().status()).isNotZero();
        }
    }

    @Test
    void messagesLongerThanAPacket() throws Exception {
        try (Program server = start("ibv_ud_pingpong", "-s", "5000")) {
            assertFailed(server, "ibv_ud_pingpong", "Requested size larger than port MTU \\(\\d+\\)");
        }
    }

    @Test
    void notAsManyConnections() throws Exception {
        String name = "ibv_srq_pingpong";
        try (PingPongs.Server server = PingPongs.server(name, JAVA, PingPongs.options("-q", "3"));
                Program client = server.client(JAVA, PingPongs.options("-q", "2"))) {
            assertFailed(server.program(), name,
                    "the peer has only 2 connections, this side 3: start both with the same -q");
            assertFailed(client, name,
                    "the peer closed the connection before it sent its whole address|Connection reset");
        }
    }

    @ParameterizedTest
    @CsvSource({"ibv_rc_pingpong, true", "ibv_rc_pingpong, false", "ibv_uc_pingpong, true", "ibv_ud_pingpong, false",
        "ibv_srq_pingpong, true"})
    void serverKilled(String name, boolean events) throws Exception {
        List<String> options = PingPongs.options("-n", FOR_EVER, "-s", "64");
        if (events) {
            options.add("-e");
        }
        try (PingPongs.Server server = PingPongs.server(name, C, options);
                Program client = server.client(JAVA, withTimeout(options))) {
            client.awaitOutput("remote address");
            server.program().kill();
            assertGone(client, name);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ibv_rc_pingpong", "ibv_ud_pingpong"})
    void clientKilled(String name) throws Exception {
        List<String> options = PingPongs.options("-e", "-n", FOR_EVER, "-s", "64");
        try (PingPongs.Server server = PingPongs.server(name, JAVA, withTimeout(options));
                Program client = server.client(C, options)) {
            server.program().awaitOutput("remote address");
            client.kill();
            assertGone(server.program(), name);
        }
    }

    private static List<String> withTimeout(List<String> options) {
        List<String> patient = new ArrayList<>(options);
        patient.addAll(List.of("--timeout", "2"));
        return patient;
    }

    // A reliable connection reports a message that is not acknowledged; over the others nothing arrives any more.
    private static void assertGone(Program program, String name) throws InterruptedException {
        assertFailed(program, name, "the peer has been silent for 2 seconds"
                + "|Failed status transport retry counter exceeded \\(12\\) for wr_id 2");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anInterruptEndsItQuietly(boolean events) throws Exception {
        List<String> options = PingPongs.options("-n", FOR_EVER, "-s", "64");
        if (events) {
            options.add("-e");
        }
        try (PingPongs.Server waiting = PingPongs.server(RC, JAVA, options)) {
            assertInterrupted(waiting.program());
        }
        try (PingPongs.Server server = PingPongs.server(RC, C, options);
                Program client = server.client(JAVA, options)) {
            client.awaitOutput("remote address");
            assertInterrupted(client);
        }
    }

    private static void assertInterrupted(Program program) throws InterruptedException {
        program.kill();
        assertThat(program.result().status()).isEqualTo(130);
        assertThat(program.result().err()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"ibv_rc_pingpong, -o, ODP capable", "ibv_rc_pingpong, -O, ODP capable",
        "ibv_srq_pingpong, -o, ODP capable", "ibv_rc_pingpong, -t, completion timestamp capable",
        "ibv_rc_pingpong, -j, dm allocation"})
    void whatTheDeviceLacksIsRefused(String name, String option, String what) throws Exception {
        Assumptions.assumeFalse(isSupported(option), "the device can do it");
        try (Program ours = start(name, option); Program theirs = C.start(name, PingPongs.options(option))) {
            Program.Result result = theirs.result();
            assertThat(result.status()).isEqualTo(1);
            assertThat(result.err()).contains(what);
            assertThat(ours.result().err()).isEqualTo(name + ": " + result.err());
            assertThat(ours.result().status()).isEqualTo(1);
        }
    }

    private static boolean isSupported(String option) throws IOException {
        for (Device device : Device.list()) {
            if (device.name().equals(RdmaTestDevice.get().name())) {
                try (VerbsContext context = device.open()) {
                    DeviceAttributesEx attributes = context.queryDeviceEx();
                    return switch (option) {
                        case "-t" -> attributes.completionTimestampMask() != 0;
                        case "-j" -> attributes.maxDeviceMemory() != 0;
                        default -> attributes.onDemandPaging().supported();
                    };
                }
            }
        }
        throw new AssertionError("the device is gone");
    }
}
