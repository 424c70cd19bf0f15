// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.time.Duration;

import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An address is taken from the interface, and given to it again. */
@RequiresRdma
class AddressDeviceTest {
    private static final int OTHER = 78;
    private static final ConnectionSettings KEPT_ALIVE = ConnectionSettings.builder().keepAlive(Duration.ofSeconds(1))
            .build();

    private final InetAddress first = RdmaTestDevice.get().ipv4();
    private InetAddress address;

    @BeforeEach
    void add() throws Exception {
        byte[] bytes = first.getAddress();
        bytes[3] = OTHER;
        address = InetAddress.getByAddress(bytes);
        Assumptions.assumeTrue(ip("add"), "no address can be added");
    }

    @AfterEach
    void remove() throws Exception {
        boolean ignored = ip("del");
    }

    private boolean ip(String action) throws Exception {
        return new ProcessBuilder("ip", "addr", action, address.getHostAddress() + "/32", "dev",
                NetworkInterface.getByInetAddress(first).getName()).start().waitFor() == 0;
    }

    private static void exchange(ConnectionManager clients, Listener listener) throws Exception {
        try (Background<Connection> connecting = Background.call(() -> clients.connect(listener.address(),
                ConnectionSettings.defaults(), Peers.TIMEOUT));
                Connection server = listener.accept(Peers.TIMEOUT); Connection client = connecting.result()) {
            client.send(new byte[] {7}, Peers.TIMEOUT);
            try (Message message = server.receive(Peers.TIMEOUT)) {
                assertThat(message.toArray()).containsExactly(7);
            }
        }
    }

    @Test
    void itServesAgain() throws Exception {
        try (ConnectionManager servers = ConnectionManager.open();
                ConnectionManager clients = ConnectionManager.open();
                Listener listener = servers.listen(new InetSocketAddress(address, 0))) {
            exchange(clients, listener);
            assertThat(ip("del")).isTrue();
            assertThatThrownBy(() -> clients.connect(listener.address(), ConnectionSettings.defaults(),
                    Duration.ofSeconds(1))).isInstanceOf(RdmaException.class);
            assertThat(ip("add")).isTrue();
            exchange(clients, listener);
        }
    }

    @Test
    @SuppressWarnings("try") // closed twice
    void aConnectionGoesOnOrEnds() throws Exception {
        try (ConnectionManager servers = ConnectionManager.open();
                ConnectionManager clients = ConnectionManager.open();
                Listener listener = servers.listen(new InetSocketAddress(address, 0), 1, KEPT_ALIVE);
                Background<Connection> connecting = Background.call(() -> clients.connect(listener.address(),
                        KEPT_ALIVE, Peers.TIMEOUT));
                Connection server = listener.accept(Peers.TIMEOUT); Connection client = connecting.result()) {
            assertThat(ip("del")).isTrue();
            assertThat(ip("add")).isTrue();
            client.send(new byte[] {7}, Peers.TIMEOUT);
            try (Background<Void> answering = Background.run(() -> answer(server))) {
                try (Message answer = client.receive(Peers.TIMEOUT)) {
                    assertThat(answer.toArray()).containsExactly(7);
                    answering.result();
                } catch (RdmaException e) {
                    assertThat(e).isNotInstanceOf(RdmaTimeoutException.class);
                    client.close();
                    // What the kernel has to say of the end goes by an address that is not there any more.
                    assertThatThrownBy(answering::result).isInstanceOf(RdmaException.class)
                            .isNotInstanceOf(RdmaTimeoutException.class);
                }
            }
            exchange(clients, listener);
        }
    }

    private static void answer(Connection server) throws Exception {
        try (Message message = server.receive(Peers.TIMEOUT)) {
            server.send(message.toArray(), Peers.TIMEOUT);
        }
    }
}
