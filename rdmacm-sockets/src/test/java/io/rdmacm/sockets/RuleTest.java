// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The lines of a file of rules. */
class RuleTest {
    private static InetSocketAddress address(String host, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(host), port);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "deny connect 10.1.0.0/16 *         | 10.1.2.3    | 80   | true",
        "deny connect 10.1.0.0/16 *         | 10.2.2.3    | 80   | false",
        "deny connect 10.1.0.0/15 *         | 10.0.255.3  | 80   | true",
        "deny connect 10.1.2.3 80           | 10.1.2.3    | 80   | true",
        "deny connect 10.1.2.3 80           | 10.1.2.4    | 80   | false",
        "deny connect * 80,100-200          | 10.1.2.3    | 150  | true",
        "deny connect * 80,100-200          | 10.1.2.3    | 201  | false",
        "deny connect 0.0.0.0/0 *           | fd99::1     | 80   | false",
        "deny both fd99::/64 *              | fd99::1:2:3 | 80   | true",
        "deny both fd99::/64 *              | 10.1.2.3    | 80   | false",
        "deny listen * *                    | 10.1.2.3    | 80   | false"})
    void itIsForAddressesAndPorts(String line, String host, int port, boolean expected) {
        assertThat(Rule.parse(line.strip()).isFor(false, address(host.strip(), port))).isEqualTo(expected);
    }

    @Test
    void itIsForOneDirectionOrBoth() {
        assertThat(Rule.parse("only listen * *").isFor(true, address("0.0.0.0", 0))).isTrue();
        assertThat(Rule.parse("only connect * *").isFor(true, address("0.0.0.0", 0))).isFalse();
        assertThat(Rule.parse("ONLY Both * *").isFor(true, address("::", 0))).isTrue();
    }

    @Test
    void commentsAndEmptyLinesAreNoRules() {
        assertThat(Rule.parse(List.of("# all", "", "  deny   both * *   # rest"))).hasSize(1).first()
                .satisfies(rule -> {
                    assertThat(rule.text()).isEqualTo("deny both * *");
                    assertThat(rule.action()).isEqualTo(Rule.Action.DENY);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"deny", "refuse both * *", "deny none * *", "deny both 10.1.0.0/33 *", "deny both host *",
        "deny both * 80-79", "deny both * http", "deny both * 70000", "deny both * 1,", "deny both 10.0.0.0/x *"})
    void whatIsWrongIsNamedWithItsLine(String line) {
        assertThatThrownBy(() -> Rule.parse(List.of("", line))).isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("line 2: ");
    }
}
