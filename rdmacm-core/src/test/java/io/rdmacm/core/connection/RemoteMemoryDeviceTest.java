// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.net.InetSocketAddress;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import org.junit.jupiter.api.Test;

/** Memory that is registered before there is a connection, and announced in private data. */
@RequiresRdma
class RemoteMemoryDeviceTest {
    private static final InetAddress LOCAL = RdmaTestDevice.get().ipv4();

    private static MemoryRegion readable(ProtectionDomain domain, String text) throws Exception {
        MemoryRegion region = domain.allocate(64, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
        region.memory().setString(0, text);
        return region;
    }

    private static String read(Connection connection) throws Exception {
        RemoteMemory remote = RemoteMemory.decode(connection.privateData());
        try (MemoryRegion local = connection.protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
            connection.read(local, 0, (int) remote.length(), remote, Peers.TIMEOUT);
            return local.memory().getString(0);
        }
    }

    @Test
    void keysTravelInPrivateDataBothWays() throws Exception {
        try (ConnectionManager servers = ConnectionManager.open(); ConnectionManager clients = ConnectionManager.open();
                MemoryRegion ofServer = readable(servers.protectionDomain(LOCAL), "from the server");
                MemoryRegion ofClient = readable(clients.protectionDomain(LOCAL), "from the client");
                Listener listener = servers.listen(new InetSocketAddress(LOCAL, 0), 4, ConnectionSettings.builder()
                        .privateData(ofServer.remoteMemory().encode()).build());
                Background<Connection> connecting = Background.call(() -> clients.connect(listener.address(),
                        ConnectionSettings.builder().privateData(ofClient.remoteMemory().encode()).build(),
                        Peers.TIMEOUT));
                Connection server = listener.accept(Peers.TIMEOUT); Connection client = connecting.result()) {
            assertThat(client.protectionDomain()).isSameAs(clients.protectionDomain(LOCAL));
            assertThat(read(client)).isEqualTo("from the server");
            assertThat(read(server)).isEqualTo("from the client");
        }
    }

    @Test
    void aRequestHasTheDomainOfItsConnection() throws Exception {
        try (Peers peers = new Peers();
                Background<Connection> connecting = Background.call(
                        () -> peers.clients.connect(peers.listener.address(), Peers.TIMEOUT));
                ConnectionRequest request = peers.listener.nextRequest(Peers.TIMEOUT);
                MemoryRegion region = readable(request.protectionDomain(), "for this peer");
                Connection server = request.accept(ConnectionParameters.builder()
                        .privateData(region.remoteMemory().encode()).build(), Peers.TIMEOUT);
                Connection client = connecting.result()) {
            assertThat(server.protectionDomain()).isSameAs(region.protectionDomain());
            assertThat(read(client)).isEqualTo("for this peer");
        }
    }

    @Test
    void theWildcardAddressHasNoDomain() throws Exception {
        try (ConnectionManager manager = ConnectionManager.open()) {
            assertThatIllegalArgumentException().isThrownBy(
                    () -> manager.protectionDomain(new InetSocketAddress(0).getAddress()));
        }
    }
}
