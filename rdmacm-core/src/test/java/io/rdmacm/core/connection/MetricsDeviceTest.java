// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import javax.management.Attribute;
import javax.management.AttributeNotFoundException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import io.rdmacm.core.JmxMetrics;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.metrics.MetricSource;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** What operators see of connections, streams, listeners, loops and pools. */
@RequiresRdma
class MetricsDeviceTest {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    /** Checks that JMX reads what the source says. */
    private static void assertReadByJmx(MetricSource source) throws Exception {
        ObjectName name;
        try (JmxMetrics registered = JmxMetrics.register(source.getClass().getSimpleName(), "of: this, test", source)) {
            name = registered.name();
            Map<String, Long> metrics = source.metrics();
            assertThat(Arrays.stream(SERVER.getMBeanInfo(name).getAttributes()).map(MBeanAttributeInfo::getName))
                    .containsExactlyElementsOf(metrics.keySet());
            for (Map.Entry<String, Long> metric : metrics.entrySet()) {
                assertThat(SERVER.getAttribute(name, metric.getKey())).isEqualTo(metric.getValue());
            }
            assertThat(SERVER.getAttributes(name, metrics.keySet().toArray(String[]::new)).asList())
                    .hasSize(metrics.size());
            assertThatThrownBy(() -> SERVER.getAttribute(name, "none"))
                    .isInstanceOf(AttributeNotFoundException.class);
            assertThatThrownBy(() -> SERVER.setAttribute(name, new Attribute("none", 1L)))
                    .isInstanceOf(AttributeNotFoundException.class);
            assertThatThrownBy(() -> JmxMetrics.register(source.getClass().getSimpleName(), "of: this, test", source))
                    .isInstanceOf(IllegalStateException.class);
        }
        assertThat(SERVER.isRegistered(name)).isFalse();
        assertThatIllegalArgumentException().isThrownBy(() -> JmxMetrics.register("*", "x", source));
    }

    @Test
    void ofConnectionsListenersLoopsAndManagers() throws Exception {
        try (Peers peers = new Peers()) {
            ConnectionLoopGroup loops = peers.clients.startLoops(LoopSettings.defaults());
            try (Peers.Pair pair = peers.connect(ConnectionSettings.builder().loops(loops).build())) {
                pair.client().send(new byte[100], Peers.TIMEOUT);
                pair.server().receive(Peers.TIMEOUT).close();
                assertThat(pair.client().metrics()).containsEntry("messagesSent", 1L).containsEntry("bytesSent", 100L);
                assertThat(pair.server().metrics()).containsEntry("messagesReceived", 1L);
                assertThat(peers.listener.metrics()).containsEntry("accepted", 1L)
                        .containsEntry("failedHandshakes", 0L).containsEntry("handshakes", 0L);
                assertThat(loops.metrics()).containsEntry("connections", 1L);
                assertThat(peers.clients.metrics()).containsEntry("openConnections", 1L)
                        .containsEntry("messagesSent", 1L).containsEntry("openListeners", 0L);
                assertReadByJmx(pair.server());
                assertReadByJmx(peers.listener);
                assertReadByJmx(loops);
                assertReadByJmx(peers.servers);
            }
        }
    }

    @Test
    @SuppressWarnings("try")
    void ofStreamsAndTheirServers() throws Exception {
        try (RdmaStreamServer server = RdmaStreamServer.listen(
                new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
                RdmaStream client = RdmaStream.connect(server.localAddress(), Peers.TIMEOUT);
                RdmaStream accepted = server.accept(Peers.TIMEOUT)) {
            client.write(ByteBuffer.wrap(new byte[7]), Peers.TIMEOUT);
            assertThat(client.metrics()).containsEntry("bytesSent", 7L);
            assertThat(server.metrics()).containsEntry("accepted", 1L).containsEntry("connectionsWaiting", 0L);
            assertReadByJmx(client);
            assertReadByJmx(server);
        }
    }

    @Test
    void ofRequestsThatTheProgramLooksAt() throws Exception {
        try (Peers peers = new Peers()) {
            CompletableFuture<Connection> rejected = peers.clients.connectAsync(peers.listener.address(),
                    ConnectionSettings.defaults(), Peers.TIMEOUT);
            peers.listener.nextRequest(Peers.TIMEOUT).reject(new byte[0]);
            assertThatThrownBy(() -> Flavour.get(rejected)).isInstanceOf(RejectedException.class);
            CompletableFuture<Connection> accepted = peers.clients.connectAsync(peers.listener.address(),
                    ConnectionSettings.defaults(), Peers.TIMEOUT);
            peers.listener.nextRequest(Peers.TIMEOUT).accept(Peers.TIMEOUT);
            Flavour.get(accepted).close();
            assertThat(peers.listener.metrics()).containsEntry("accepted", 1L).containsEntry("failedHandshakes", 1L);
        }
    }

    @Test
    void ofAStreamThatHasEndedBeforeItIsTaken() throws Exception {
        try (RdmaStreamServer server = RdmaStreamServer.listen(
                new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0))) {
            RdmaStream.connect(server.localAddress(), Peers.TIMEOUT).close();
            try (RdmaStream accepted = server.accept(Peers.TIMEOUT)) {
                assertThat(accepted.read(ByteBuffer.allocate(1), Peers.TIMEOUT)).isNegative();
                assertThat(server.metrics()).containsEntry("accepted", 1L).containsEntry("failedHandshakes", 0L);
            }
        }
    }

    @Test
    void ofPools() throws Exception {
        try (Peers peers = new Peers()) {
            RegisteredPool pool = RegisteredPool.create(
                    peers.clients.protectionDomain(RdmaTestDevice.get().ipv4()), 64);
            try (pool; var slice = pool.take()) {
                assertThat(pool.metrics()).containsEntry("taken", 1L);
                assertThat(pool.metrics().get("registeredBytes")).isGreaterThanOrEqualTo(slice.length());
                assertReadByJmx(pool);
            }
            assertThat(pool.metrics().values()).containsOnly(0L);
        }
    }
}
