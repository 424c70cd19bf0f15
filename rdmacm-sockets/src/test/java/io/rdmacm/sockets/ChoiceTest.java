// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.rdmacm.sockets.Choice.Decision;
import io.rdmacm.sockets.Choice.Way;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.junit.jupiter.api.Test;

/** Which way connections and servers go, on a machine with a device that has the address 10.1.0.1/16. */
class ChoiceTest {
    private static final InetAddress OWN = InetAddress.ofLiteral("10.1.0.1");
    private static final DeviceNetworks NETWORKS = new DeviceNetworks(Path.of("/none")) {
        @Override
        synchronized List<Of> networks() {
            return List.of(new Of("rxe0", OWN, new Rule.Network(OWN, 16)));
        }
    };

    private static Choice with(Duration memory, String... rules) {
        return new Choice(new Settings(Stream.of(rules).map(Rule::parse).toList(), Duration.ofMillis(250), memory,
                true), NETWORKS);
    }

    private static Choice with(String... rules) {
        return with(Duration.ofMinutes(1), rules);
    }

    private static InetSocketAddress at(String host, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(host), port);
    }

    private static Way connecting(Choice choice, SocketAddress remote) {
        return choice.toConnect(remote).way();
    }

    private static Way listening(Choice choice, SocketAddress local) {
        return choice.toListen(local).way();
    }

    @Test
    void clientsTryRdmaOnTheNetworkOfADevice() {
        Choice choice = with();

        assertThat(choice.toConnect(at("10.1.2.3", 9092)))
                .isEqualTo(new Decision(Way.EITHER, "on the network of rxe0"));
        assertThat(connecting(choice, at("10.1.0.1", 9092))).isEqualTo(Way.EITHER);
        assertThat(connecting(choice, at("10.2.2.3", 9092))).isEqualTo(Way.TCP);
        assertThat(connecting(choice, at("127.0.0.1", 9092))).isEqualTo(Way.TCP);
        assertThat(connecting(choice, at("::1", 9092))).isEqualTo(Way.TCP);
        assertThat(connecting(choice, at("0.0.0.0", 9092))).isEqualTo(Way.TCP);
        assertThat(connecting(choice, at("10.1.2.3", 443))).isEqualTo(Way.TCP);
        assertThat(connecting(choice, InetSocketAddress.createUnresolved("host", 9092))).isEqualTo(Way.TCP);
        assertThat(connecting(choice, UnixDomainSocketAddress.of("/tmp/socket"))).isEqualTo(Way.TCP);
    }

    @Test
    void serversListenWhereClientsMayComeFrom() {
        Choice choice = with();

        assertThat(listening(choice, null)).isEqualTo(Way.EITHER);
        assertThat(listening(choice, at("0.0.0.0", 9092))).isEqualTo(Way.EITHER);
        assertThat(listening(choice, at("::", 0))).isEqualTo(Way.EITHER);
        assertThat(listening(choice, at("10.1.0.1", 9092))).isEqualTo(Way.EITHER);
        assertThat(listening(choice, at("127.0.0.1", 9092))).isEqualTo(Way.TCP);
        assertThat(listening(choice, at("10.2.0.1", 9092))).isEqualTo(Way.TCP);
        assertThat(listening(choice, at("0.0.0.0", 80))).isEqualTo(Way.TCP);
    }

    @Test
    void theFirstRuleThatIsForItDecides() {
        Choice choice = with("allow both * 80", "deny listen * *", "only connect 10.1.9.0/24 *", "deny both * 7000");

        assertThat(connecting(choice, at("10.1.2.3", 80))).isEqualTo(Way.EITHER);
        assertThat(listening(choice, at("0.0.0.0", 80))).isEqualTo(Way.EITHER);
        assertThat(choice.toListen(at("0.0.0.0", 9092)))
                .isEqualTo(new Decision(Way.TCP, "rule \"deny listen * *\""));
        assertThat(connecting(choice, at("10.1.9.1", 7000))).isEqualTo(Way.RDMA);
        assertThat(connecting(choice, at("10.1.8.1", 7000))).isEqualTo(Way.TCP);
    }

    @Test
    void aRuleThatNamesANetworkIsForThoseBehindRoutersToo() {
        Choice choice = with("allow connect 10.2.0.0/16 *", "allow connect * *");

        assertThat(connecting(choice, at("10.2.2.3", 9092))).isEqualTo(Way.EITHER);
        assertThat(connecting(choice, at("10.3.2.3", 9092))).isEqualTo(Way.TCP);
    }

    @Test
    void noRuleMakesLoopbackRdma() {
        Choice choice = with("only both * *");

        assertThat(connecting(choice, at("127.0.0.1", 9092))).isEqualTo(Way.TCP);
        assertThat(listening(choice, at("127.0.0.1", 9092))).isEqualTo(Way.TCP);
        assertThat(connecting(choice, at("10.1.2.3", 9092))).isEqualTo(Way.RDMA);
    }

    @Test
    void whatHasFailedIsRemembered() {
        Choice choice = with("only connect * 7000");
        choice.failed(at("10.1.2.3", 9092), "no answer");

        assertThat(choice.toConnect(at("10.1.2.3", 9092))).isEqualTo(new Decision(Way.TCP, "no answer"));
        assertThat(connecting(choice, at("10.1.2.3", 9093))).isEqualTo(Way.EITHER);
        assertThat(connecting(choice, at("10.1.2.4", 9092))).isEqualTo(Way.EITHER);
        choice.failed(at("10.1.2.3", 7000), "no answer");
        assertThat(connecting(choice, at("10.1.2.3", 7000))).isEqualTo(Way.RDMA);

        Choice forgetful = with(Duration.ZERO);
        forgetful.failed(at("10.1.2.3", 9092), "no answer");
        assertThat(connecting(forgetful, at("10.1.2.3", 9092))).isEqualTo(Way.EITHER);
    }

    @Test
    void tcpGetsHalfOfAShortTimeLimit() {
        assertThat(with().beside(Duration.ofMillis(100))).isEqualTo(Duration.ofMillis(50));
        assertThat(with().beside(Duration.ofMillis(1000))).isEqualTo(Duration.ofMillis(250));
        assertThat(with().beside(Deadline.FOREVER)).isEqualTo(Duration.ofMillis(250));
    }
}
