// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import static io.rdmacm.examples.testing.Kind.C;
import static io.rdmacm.examples.testing.Kind.JAVA;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.CmServer;
import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Leaks;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The program udaddy, with itself and with the one of librdmacm. */
@RequiresRdma
class UdaddyDeviceTest {
    private static final String NAME = "udaddy";
    // The port of the program, which has no option for it.
    private static final int PORT = 7174;
    private static final String[] SERVER = {"udaddy: starting server", "receiving data transfers", "sending replies",
        "data transfers complete", "test complete", "return status 0"};
    private static final String[] CLIENT = {"udaddy: starting client", "udaddy: connecting",
        "initiating data transfers", "receiving data transfers", "data transfers complete", "test complete",
        "return status 0"};

    @BeforeEach
    void requireDatagrams() {
        RdmaTestDevice.assumeNotIwarp("it has no datagrams");
    }

    @ParameterizedTest
    @CsvSource({"JAVA, C, false", "C, JAVA, false", "JAVA, JAVA, false", "JAVA, C, true", "C, JAVA, true",
        "JAVA, JAVA, true"})
    void datagramsAreAnswered(Kind server, Kind client, boolean ipv6) throws Exception {
        run(server, client, ipv6, "-c", "3", "-C", "20", "-S", "500");
    }

    @ParameterizedTest
    @CsvSource({"-P udp -f ip -t 0x20, JAVA, C", "-p 0x111 -f ip -t 32, C, JAVA", "-S 1024 -C 1, JAVA, C",
        "-S 1 -C 1, C, JAVA"})
    void optionsAreThoseOfC(String options, Kind server, Kind client) throws Exception {
        run(server, client, false, options.split(" "));
    }

    @ParameterizedTest
    @CsvSource({"-C 0, JAVA, C", "-S 0, C, JAVA"})
    void introductionsWithoutMessages(String options, Kind serverKind, Kind clientKind) throws Exception {
        try (Program server = server(serverKind, false, options.split(" "));
                Program client = client(clientKind, false, options.split(" "))) {
            CmServer.assertPrinted(client, "udaddy: starting client", "udaddy: connecting", "test complete",
                    "return status 0");
            CmServer.assertPrinted(server, "udaddy: starting server", "test complete", "return status 0");
        }
    }

    @Test
    void nothingIsLeaked() throws Exception {
        Leaks.assertNone(() -> run(JAVA, JAVA, false, "-c", "2"));
    }

    @Test
    void nobodyListens() throws Exception {
        try (Program client = client(JAVA, false)) {
            CmServer.assertFailed(client, NAME, "UNREACHABLE");
        }
    }

    @Test
    void messagesLargerThanThePacketsOfThePort() throws Exception {
        try (Program server = server(JAVA, false); Program client = client(JAVA, false, "-S", "5000")) {
            CmServer.assertFailed(client, NAME, "message_size 5000 is larger than active mtu ");
            server.kill();
        }
    }

    @Test
    void messagesOfAnotherSize() throws Exception {
        try (Program server = server(JAVA, false); Program client = client(C, false, "-S", "50")) {
            CmServer.assertFailed(server, NAME,
                    "a message of 50 bytes arrived, not of 100: give both sides the same -S");
            client.kill();
        }
    }

    @Test
    void clientThatSendsNothing() throws Exception {
        try (Program server = server(JAVA, false, "--timeout", "1"); Program client = client(C, false, "-C", "0")) {
            CmServer.assertFailed(server, NAME, "after 0 of 10 messages nothing arrived for 1 seconds");
            client.result();
        }
    }

    private static void run(Kind serverKind, Kind clientKind, boolean ipv6, String... options) throws Exception {
        try (Program server = server(serverKind, ipv6, options); Program client = client(clientKind, ipv6, options)) {
            CmServer.assertPrinted(client, CLIENT);
            CmServer.assertPrinted(server, SERVER);
        }
    }

    private static Program server(Kind kind, boolean ipv6, String... options) throws Exception {
        Program server = start(kind, "-b", Addresses.of(ipv6), options);
        Ports.awaitListening(server, PORT);
        return server;
    }

    private static Program client(Kind kind, boolean ipv6, String... options) throws Exception {
        return start(kind, "-s", Addresses.of(ipv6), options);
    }

    private static Program start(Kind kind, String option, InetAddress address, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(option, address.getHostAddress()));
        arguments.addAll(List.of(options));
        return kind.start(NAME, arguments);
    }
}
