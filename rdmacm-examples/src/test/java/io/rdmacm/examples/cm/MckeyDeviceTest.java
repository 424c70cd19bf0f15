// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import static io.rdmacm.examples.testing.Kind.C;
import static io.rdmacm.examples.testing.Kind.JAVA;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.CmServer;
import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The program mckey, with itself and with the one of librdmacm. */
@RequiresRdma
class MckeyDeviceTest {
    private static final String NAME = "mckey";
    private static final String IPV4_GROUP = "239.1.2.3";
    private static final String IPV6_GROUP = "ff1e::1:2:3";

    @BeforeEach
    void requireDatagrams() {
        RdmaTestDevice.assumeNotIwarp("it has neither datagrams nor multicast");
    }

    @ParameterizedTest
    @CsvSource({"JAVA, C, false", "C, JAVA, false", "JAVA, JAVA, false", "JAVA, C, true", "C, JAVA, true",
        "JAVA, JAVA, true"})
    void messagesReachTheGroup(Kind receiver, Kind sender, boolean ipv6) throws Exception {
        Assumptions.assumeTrue(!ipv6 || joinsIpv6(), "the kernel joins no groups of IPv6 for RoCE version 2");
        run(receiver, sender, ipv6, 1);
    }

    @Test
    void eachQueuePairIsAMember() throws Exception {
        run(JAVA, C, false, 2, "-c", "2", "-C", "5", "-S", "1000");
    }

    @Test
    void membersThatOnlySend() throws Exception {
        try (Program receiver = receiver(C, false); Program sender = sender(JAVA, false, "-o")) {
            CmServer.assertPrinted(sender, lines("client", "initiating", false, 1));
            CmServer.assertPrinted(receiver, lines("server", "receiving", false, 1));
        }
    }

    @Test
    void membersWithoutMessages() throws Exception {
        try (Program sender = sender(JAVA, false, "-C", "0", "-p", "0x111")) {
            CmServer.assertPrinted(sender, "mckey: starting client", "mckey: joining", joined(false), "test complete",
                    "return status 0");
        }
    }

    @Test
    void lostMessagesAreNotWaitedForWithoutEnd() throws Exception {
        try (Program receiver = receiver(JAVA, false, "-C", "20", "--timeout", "2");
                Program sender = sender(C, false, "-C", "10")) {
            CmServer.assertFailed(receiver, NAME, " of 20 messages nothing arrived for 2 seconds");
            sender.result();
        }
    }

    @Test
    void messagesLargerThanThePacketsOfThePort() throws Exception {
        try (Program sender = sender(JAVA, false, "-S", "5000")) {
            CmServer.assertFailed(sender, NAME, "message_size 5000 is larger than active mtu ");
        }
    }

    // Not supported by rxe.

    @Test
    void loopbackCanBeSwitchedOff() throws Exception {
        try (Program sender = sender(JAVA, false, "-l")) {
            Program.Result result = sender.result();
            if (result.status() != 0) {
                assertThat(result.errLines()).singleElement().asString().contains("rdma_create_qp_ex");
            }
        }
    }

    @Test
    void groupsOfInfiniband() throws Exception {
        try (Program sender = JAVA.start(NAME, "-M", "ff0e::ffff:239.1.2.3", "-b", Addresses.ipv4(), "-s")) {
            Program.Result result = sender.result();
            if (result.status() != 0) {
                assertThat(result.errLines()).singleElement().asString().contains("rdma_join_multicast");
            }
        }
        try (Program sender = sender(JAVA, false, "-p", "2")) {
            Program.Result result = sender.result();
            if (result.status() != 0) {
                assertThat(result.errLines()).singleElement().asString().contains("rdma_bind_addr");
            }
        }
    }

    /** Returns whether an IPv6 group can be joined. If not, checks that the C program cannot join it either. */
    private static boolean joinsIpv6() throws Exception {
        try (Program ours = sender(JAVA, true, "-C", "0"); Program twin = sender(C, true, "-C", "0")) {
            boolean joined = ours.result().status() == 0;
            assertThat(twin.result().status() == 0).isEqualTo(joined);
            if (!joined) {
                CmServer.assertFailed(ours, NAME, "rdma_join_multicast");
            }
            return joined;
        }
    }

    private static void run(Kind receiverKind, Kind senderKind, boolean ipv6, int members, String... options)
            throws Exception {
        try (Program receiver = receiver(receiverKind, ipv6, options);
                Program sender = sender(senderKind, ipv6, options)) {
            CmServer.assertPrinted(sender, lines("client", "initiating", ipv6, members));
            CmServer.assertPrinted(receiver, lines("server", "receiving", ipv6, members));
        }
    }

    /** Starts a receiver, and waits until it has posted its receives and joined the group. */
    private static Program receiver(Kind kind, boolean ipv6, String... options) throws Exception {
        Program receiver = start(kind, ipv6, options);
        receiver.awaitOutput("receiving data transfers");
        return receiver;
    }

    private static Program sender(Kind kind, boolean ipv6, String... options) throws Exception {
        List<String> more = new ArrayList<>(List.of(options));
        more.add("-s");
        return start(kind, ipv6, more.toArray(String[]::new));
    }

    private static Program start(Kind kind, boolean ipv6, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("-m", ipv6 ? IPV6_GROUP : IPV4_GROUP, "-b",
                Addresses.of(ipv6).getHostAddress()));
        arguments.addAll(List.of(options));
        if (kind == JAVA) {
            // there are no switches here
            arguments.addAll(List.of("--pause", "0"));
        }
        return kind.start(NAME, arguments);
    }

    private static String[] lines(String role, String transfers, boolean ipv6, int members) {
        List<String> lines = new ArrayList<>(List.of("mckey: starting " + role, "mckey: joining"));
        lines.addAll(Collections.nCopies(members, joined(ipv6)));
        lines.addAll(List.of(transfers + " data transfers", "data transfers complete", "test complete",
                "return status 0"));
        return lines.toArray(String[]::new);
    }

    private static String joined(boolean ipv6) {
        return "mckey: joined dgid: " + (ipv6 ? IPV6_GROUP : "::ffff:" + IPV4_GROUP) + " mlid 0x0 sl 0";
    }
}
