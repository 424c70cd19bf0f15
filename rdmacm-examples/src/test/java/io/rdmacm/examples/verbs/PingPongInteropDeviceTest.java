// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static io.rdmacm.examples.testing.Kind.C;
import static io.rdmacm.examples.testing.Kind.JAVA;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.PingPongs;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.Requirements;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The ping-pong programs with each other and with those of rdma-core, in both roles, with validated data. */
@RequiresRdma
class PingPongInteropDeviceTest {
    private static final int COUNT = 30;

    private static Stream<Arguments> games() {
        List<Arguments> games = new ArrayList<>();
        for (String name : List.of("ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong")) {
            for (boolean events : new boolean[] {true, false}) {
                games.add(Arguments.of(name, JAVA, C, events));
                games.add(Arguments.of(name, C, JAVA, events));
                games.add(Arguments.of(name, JAVA, JAVA, events));
            }
        }
        return games.stream();
    }

    @ParameterizedTest
    @MethodSource("games")
    void messagesGoBackAndForth(String name, Kind server, Kind client, boolean events) throws Exception {
        List<String> options = PingPongs.options("-c", "-n", "" + COUNT, "-s", "1000");
        if (events) {
            options.add("-e");
        }
        int pairs = 1;
        if (name.equals("ibv_srq_pingpong")) {
            pairs = 3;
            options.addAll(List.of("-q", "" + pairs));
        }
        play(name, server, client, 1000, pairs, options);
    }

    @ParameterizedTest
    @CsvSource({"JAVA, C, true", "C, JAVA, true", "JAVA, JAVA, true", "JAVA, C, false", "C, JAVA, false",
        "JAVA, JAVA, false"})
    void sendsInBatches(Kind server, Kind client, boolean events) throws Exception {
        List<String> options = PingPongs.options("-N", "-c", "-n", "" + COUNT, "-s", "4096");
        if (events) {
            options.add("-e");
        }
        play("ibv_rc_pingpong", server, client, 4096, 1, options);
    }

    @ParameterizedTest
    @CsvSource({"ibv_rc_pingpong, JAVA, C", "ibv_rc_pingpong, C, JAVA", "ibv_uc_pingpong, C, JAVA",
        "ibv_srq_pingpong, JAVA, C"})
    void messagesOfManyPackets(String name, Kind server, Kind client) throws Exception {
        // Fewer receives than messages, so that receives are posted again.
        play(name, server, client, 50_001, name.equals("ibv_srq_pingpong") ? 16 : 1,
                PingPongs.options("-c", "-e", "-n", "40", "-s", "50001", "-m", "256", "-r", "20"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ibv_rc_pingpong", "ibv_ud_pingpong"})
    void byAnIpv6Address(String name) throws Exception {
        RdmaTestDevice.assumeConnectedByHand();
        var address = RdmaTestDevice.get().ipv6().filter(a -> !a.isLinkLocalAddress());
        Requirements.require(address.isPresent(), "the network interface of the RDMA device has no IPv6 address");
        List<String> options = new ArrayList<>(PingPongs.device(address.get()));
        options.addAll(List.of("-c", "-e", "-n", "" + COUNT, "-s", "100", "-l", "3"));
        play(name, JAVA, C, 100, 1, options);
        play(name, C, JAVA, 100, 1, options);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong"})
    void whatTheClientDidNotMarkIsInvalid(String name) throws Exception {
        List<String> options = PingPongs.options("-e", "-n", "20", "-s", "512");
        List<String> checking = new ArrayList<>(options);
        checking.add("-c");
        // The buffer of this C program is zero, as the marks are.
        Kind client = name.equals("ibv_srq_pingpong") ? JAVA : C;
        try (PingPongs.Server server = PingPongs.server(name, JAVA, checking);
                Program unmarked = server.client(client, options)) {
            assertThat(unmarked.result().status()).isZero();
            Program.Result result = server.program().result();
            assertThat(result.status()).isEqualTo(1);
            assertThat(result.errLines()).containsExactly(name + ": invalid data in page 0");
        }
    }

    @Test
    void nothingIsLeaked() throws Exception {
        List<String> options = PingPongs.options("-e", "-c", "-n", "20", "-s", "64", "-r", "20");
        playAll(options);
        ResourceCounts before = ResourceCounts.now();
        playAll(options);
        assertThat(ResourceCounts.await(before, Program.LIMIT)).isEqualTo(before);
    }

    private static void playAll(List<String> options) throws IOException, InterruptedException {
        play("ibv_rc_pingpong", JAVA, JAVA, 64, 1, options);
        play("ibv_uc_pingpong", JAVA, JAVA, 64, 1, options);
        play("ibv_ud_pingpong", JAVA, JAVA, 64, 1, options);
        play("ibv_srq_pingpong", JAVA, JAVA, 64, 16, options);
    }

    private static void play(String name, Kind serverKind, Kind clientKind, int size, int pairs, List<String> options)
            throws IOException, InterruptedException {
        try (PingPongs.Server server = PingPongs.server(name, serverKind, options);
                Program client = server.client(clientKind, options)) {
            Program.Result served = server.program().result();
            Program.Result played = client.result();
            for (Program.Result result : List.of(served, played)) {
                assertThat(result.status()).as(result.err() + result.out()).isZero();
                assertThat(result.err()).isEmpty();
                assertThat(result.out()).doesNotContain("invalid data");
                assertThat(addresses(result, "local")).hasSize(pairs).doesNotHaveDuplicates();
                int count = Integer.parseInt(options.get(options.indexOf("-n") + 1));
                assertThat(result.outLines()).filteredOn(line -> line.contains(" in ")).satisfiesExactly(
                        line -> assertThat(line).matches(2L * size * count
                                + " bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec"),
                        line -> assertThat(line).matches(count
                                + " iters in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d usec/iter"));
            }
            assertThat(addresses(served, "remote")).isEqualTo(addresses(played, "local"));
            assertThat(addresses(played, "remote")).isEqualTo(addresses(served, "local"));
        }
    }

    // One of the programs of rdma-core prints a colon where the others print a comma.
    private static List<String> addresses(Program.Result result, String side) {
        return result.outLines().stream().filter(line -> line.matches("  " + side + " address: .*"))
                .map(line -> line.replaceFirst(".*address: +", "").replace(": GID", ", GID")).toList();
    }
}
