// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import static io.rdmacm.examples.testing.Kind.C;
import static io.rdmacm.examples.testing.Kind.JAVA;

import java.net.InetSocketAddress;
import java.util.List;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.CmServer;
import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Leaks;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs rdma_client and rdma_server, rdma_xclient and rdma_xserver. */
@RequiresRdma
class SynchronousDeviceTest {
    private static final String ENDED = "the peer ended the connection before the message was complete";

    @ParameterizedTest
    @CsvSource({"JAVA, C, false", "C, JAVA, false", "JAVA, JAVA, false", "JAVA, C, true", "C, JAVA, true",
        "JAVA, JAVA, true"})
    void messagesTravelBothWays(Kind serverKind, Kind clientKind, boolean ipv6) throws Exception {
        try (CmServer server = CmServer.start(serverKind, "rdma_server", "rdma_client", "-s", ipv6, List.of());
                Program client = server.client(clientKind, List.of())) {
            CmServer.assertPrinted(client, "rdma_client: start", "rdma_client: end 0");
            CmServer.assertPrinted(server.program(), "rdma_server: start", "rdma_server: end 0");
        }
    }

    // The C server listens at IPv4 addresses only.

    @ParameterizedTest
    @CsvSource({"JAVA, C", "C, JAVA", "JAVA, JAVA"})
    void messagesArriveInASharedQueue(Kind serverKind, Kind clientKind) throws Exception {
        try (CmServer server = CmServer.start(serverKind, "rdma_xserver", "rdma_xclient", null, false,
                List.of("-c", "r")); Program client = server.client(clientKind, List.of("-c", "r"))) {
            CmServer.assertPrinted(client, "rdma_xclient: start", "rdma_xclient: end 0");
            CmServer.assertPrinted(server.program(), "rdma_xserver: start", "rdma_xserver: end 0");
        }
    }

    @Test
    void nothingIsLeaked() throws Exception {
        Leaks.assertNone(() -> {
            messagesTravelBothWays(JAVA, JAVA, false);
            messagesArriveInASharedQueue(JAVA, JAVA);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma_xclient", "rdma_xserver"})
    void extendedReliableConnectionsAreRefused(String name) throws Exception {
        try (Program program = JAVA.start(name, "-c", "x")) {
            CmServer.assertFailed(program, name, "XRC");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma_client", "rdma_xclient"})
    void nobodyListens(String name) throws Exception {
        String port = "" + Ports.free(Addresses.of(false), PortSpace.TCP);
        try (Program client = JAVA.start(name, "-s", Addresses.ipv4(), "-p", port)) {
            CmServer.assertFailed(client, name, "nobody listens on this port");
        }
    }

    @Test
    void noDeviceLeadsToTheServer() throws Exception {
        try (Program client = JAVA.start("rdma_client", "-s", "192.0.2.77")) {
            CmServer.assertFailed(client, "rdma_client", "192.0.2.77");
        }
    }

    @Test
    void unknownServer() throws Exception {
        try (Program client = JAVA.start("rdma_client", "-s", "no.such.host.invalid")) {
            CmServer.assertFailed(client, "rdma_client", "no.such.host.invalid");
        }
    }

    @Test
    void portInUse() throws Exception {
        try (CmServer first = CmServer.start(C, "rdma_server", "rdma_client", "-s", false, List.of());
                Program second = JAVA.start("rdma_server", "-s", Addresses.ipv4(), "-p", "" + first.port())) {
            CmServer.assertFailed(second, "rdma_server", "EADDRINUSE");
        }
    }

    @ParameterizedTest
    @CsvSource({"rdma_server, -s", "rdma_xserver, "})
    void aClientThatExitsWithoutAMessage(String name, String bind) throws Exception {
        try (CmServer server = CmServer.start(JAVA, name, name, bind, false, List.of())) {
            InetSocketAddress address = new InetSocketAddress(server.address(), server.port());
            try (Endpoint client = Endpoint.createActive(address, PortSpace.TCP, EndpointAttributes.defaults(),
                    Program.LIMIT)) {
                client.connect(ConnectionParameters.defaults(), Program.LIMIT);
            }
            CmServer.assertFailed(server.program(), name, bind == null ? "no work left" : ENDED);
        }
    }

    @Test
    void aServerThatExitsWithoutAMessage() throws Exception {
        InetSocketAddress any = new InetSocketAddress(Addresses.of(false), 0);
        try (Endpoint listener = Endpoint.createPassive(any, PortSpace.TCP, EndpointAttributes.defaults())) {
            listener.listen(1);
            try (Program client = JAVA.start("rdma_client", "-s", Addresses.ipv4(), "-p",
                    "" + listener.localAddress().getPort())) {
                try (Endpoint served = listener.getRequest(Program.LIMIT)) {
                    served.accept(ConnectionParameters.defaults(), Program.LIMIT);
                }
                CmServer.assertFailed(client, "rdma_client", "");
            }
        }
    }

    @Test
    void aServerThatSendsNothing() throws Exception {
        try (CmServer server = CmServer.start(C, "rdma_xserver", "rdma_client", null, false, List.of());
                Program client = server.client(JAVA, List.of())) {
            // It receives the message and exits.
            CmServer.assertFailed(client, "rdma_client", "");
        }
    }
}
