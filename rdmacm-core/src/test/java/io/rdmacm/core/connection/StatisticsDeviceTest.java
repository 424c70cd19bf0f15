// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.MBeanServerDelegate;
import javax.management.MBeanServerNotification;
import javax.management.NotificationListener;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;

import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** What JMX reads of a manager. */
@RequiresRdma
class StatisticsDeviceTest {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    private static void exchange(Peers peers) throws Exception {
        try (Peers.Pair pair = peers.connect()) {
            pair.client().send(new byte[100], Peers.TIMEOUT);
            pair.server().receive(Peers.TIMEOUT).close();
            pair.server().send(new byte[7], Peers.TIMEOUT);
            pair.client().receive(Peers.TIMEOUT).close();
        }
    }

    @Test
    void theCountersOfOpenAndClosedConnectionsAreReadByJmx() throws Exception {
        ObjectName name;
        try (Peers peers = new Peers()) {
            exchange(peers);
            name = peers.clients.registerMXBean("clients: of this test");
            exchange(peers);
            ConnectionManagerMXBean bean = JMX.newMXBeanProxy(SERVER, name, ConnectionManagerMXBean.class);
            assertThat(bean.getOpenConnections()).isZero();
            assertThat(bean.getEstablishedConnections()).isEqualTo(2);
            assertThat(bean.getMessagesSent()).isEqualTo(2);
            assertThat(bean.getBytesSent()).isEqualTo(200);
            assertThat(bean.getBytesReceived()).isEqualTo(14);
            assertThat(bean.getBuffersInUse()).isZero();
            try (Peers.Pair pair = peers.connect()) {
                ConnectionSettings settings = pair.client().settings();
                assertThat(bean.getBuffersInUse()).isEqualTo(settings.receiveBuffers());
                assertThat(bean.getRegisteredBytes())
                        .isGreaterThanOrEqualTo((long) settings.receiveBuffers() * settings.messageSize());
                pair.client().send(new byte[5], Peers.TIMEOUT);
                pair.server().receive(Peers.TIMEOUT).close();
                assertThat(bean.getMessagesSent()).isEqualTo(3);
                assertThat(bean.getConnections()).singleElement().satisfies(row -> {
                    assertThat(row.bytesSent()).isEqualTo(5);
                    assertThat(row.peerAddress()).isEqualTo(peers.listener.address().toString());
                });
                // as a tool sees it that does not have these classes
                CompositeData[] rows = (CompositeData[]) SERVER.getAttribute(name, "Connections");
                assertThat(rows[0].get("messagesSent")).isEqualTo(1L);
            }
            ConnectionLoopGroup loops = peers.clients.startLoops(LoopSettings.builder().threads(2).build());
            try (Peers.Pair pair = peers.connect(ConnectionSettings.builder().loops(loops).build())) {
                pair.server().send(new byte[1], Peers.TIMEOUT);
                pair.client().receive(Peers.TIMEOUT).close();
                assertThat(bean.getLoopConnections()).isEqualTo(1);
                assertThat(bean.getLoopCompletions()).isPositive();
            }
            assertThat(bean.getLoopConnections()).isZero();
            peers.servers.registerMXBean("servers: of this test");
            assertThat(peers.servers.counters().messagesReceived()).isEqualTo(3);
            assertThat(peers.servers.listeners()).isEqualTo(List.of(peers.listener));
            assertThatThrownBy(() -> peers.clients.registerMXBean("again")).isInstanceOf(IllegalStateException.class);
            try (ConnectionManager other = ConnectionManager.open()) {
                assertThatThrownBy(() -> other.registerMXBean("clients: of this test"))
                        .isInstanceOf(IllegalStateException.class);
            }
        }
        assertThat(SERVER.isRegistered(name)).isFalse();
    }

    /** As a tool that reads the numbers of whatever is registered, in threads of its own. */
    @Test
    void whoIsToldOfARegistrationMayAskTheManager() throws Exception {
        List<Integer> listeners = new ArrayList<>();
        Peers peers = new Peers();
        NotificationListener asking = (notification, none) -> {
            if (((MBeanServerNotification) notification).getMBeanName().toString().contains("asking")) {
                try {
                    listeners.add(Background.call(() -> peers.servers.listeners().size()).result());
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        SERVER.addNotificationListener(MBeanServerDelegate.DELEGATE_NAME, asking, null, null);
        try (peers) {
            peers.servers.registerMXBean("asking");
        } finally {
            SERVER.removeNotificationListener(MBeanServerDelegate.DELEGATE_NAME, asking);
        }
        assertThat(listeners).containsExactly(1, 0);
    }
}
