// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.FailingSteps;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.ModuleClasses;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever fails while an object is made, nothing of it stays behind, and its parents can be closed. */
@FakeRdmaCm.With
class FactoriesTest {
    private static final Set<String> WITHOUT_PARENT = Set.of("EventChannel", "Endpoint", "Endpoint opened",
            "Endpoint, active", "Endpoint, active, with queues", "Endpoint of a request, with queues");
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final Deque<AutoCloseable> closing = new ArrayDeque<>();
    private FakeStack stack;
    private EventChannel channel;
    private CmId id;
    private CmId datagrams;
    private ProtectionDomain domain;
    private CompletionQueue queue;
    private Endpoint listener;
    private Endpoint plainListener;
    private Endpoint endpoint;

    @BeforeEach
    void open() throws Exception {
        stack = own(new FakeStack());
        FakeRdmaCm.shareWithVerbs();
        FakeRdmaCm.call("fake_share_queues", FakeVerbs.address("ibv_create_srq"),
                FakeVerbs.address("ibv_destroy_srq"));
        FakeRdmaCm.call("fake_answering", 1);
        FakeRdmaCm.call("fake_context", stack.context().handle().address());
        channel = own(EventChannel.open());
        id = own(bound(PortSpace.TCP));
        datagrams = own(bound(PortSpace.UDP));
        domain = own(id.context().allocateProtectionDomain());
        queue = own(id.context().createCompletionQueue(16));
        listener = own(Endpoint.createPassive(local(), PortSpace.TCP, EndpointAttributes.defaults()));
        listener.listen(1);
        plainListener = own(Endpoint.createPassive(local(), PortSpace.TCP, null));
        plainListener.listen(1);
        endpoint = own(Endpoint.createPassive(local(), PortSpace.TCP, null));
        // it keeps its domain
        endpoint.protectionDomain();
    }

    /** Fails if something below them is still open. */
    @AfterEach
    void close() throws Exception {
        while (closing.size() > 1) {
            closing.pop().close();
        }
        FakeRdmaCm.call("fake_context", 0);
        FakeRdmaCm.call("fake_unshare");
        closing.pop().close();
    }

    private <T extends AutoCloseable> T own(T object) {
        closing.push(object);
        return object;
    }

    private CmId bound(PortSpace portSpace) throws Exception {
        CmId made = CmId.open(channel, portSpace);
        made.bindAddress(local());
        return made;
    }

    private static InetSocketAddress local() throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0);
    }

    private static InetSocketAddress peer() throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName("192.0.2.8"), 7);
    }

    private Map<String, FailingSteps.Factory> factories() {
        Map<String, FailingSteps.Factory> table = new TreeMap<>();
        table.put("EventChannel", EventChannel::open);
        table.put("CmId", () -> CmId.open(channel, PortSpace.TCP));
        table.put("QueuePair", () -> id.createQueuePair(domain, QueuePairInitAttributes.builder()
                .completionQueue(queue).build()));
        table.put("SharedReceiveQueue", () -> id.createSharedReceiveQueue(domain,
                SharedReceiveQueueInitAttributes.builder().build()));
        table.put("MulticastMembership", () -> datagrams.joinMulticast(
                new InetSocketAddress(InetAddress.getByName("239.0.0.1"), 0)));
        table.put("SharedReceiveQueue of an endpoint", () -> endpoint.createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().build()));
        table.put("MemoryRegion of an endpoint", () -> endpoint.registerMessages(Arena.ofAuto().allocate(64)));
        table.put("Endpoint", () -> Endpoint.createPassive(local(), PortSpace.TCP, null));
        table.put("Endpoint opened", () -> Endpoint.open(PortSpace.TCP));
        table.put("Endpoint, active", () -> Endpoint.createActive(peer(), PortSpace.TCP, null, LIMIT));
        table.put("Endpoint, active, with queues", () -> Endpoint.createActive(peer(), PortSpace.TCP,
                EndpointAttributes.defaults(), LIMIT));
        table.put("Endpoint of a request", () -> requested(plainListener));
        table.put("Endpoint of a request, with queues", () -> requested(listener));
        return table;
    }

    private static Endpoint requested(Endpoint listening) throws Exception {
        FakeRdmaCm.event(listening.id(), CmEventType.CONNECT_REQUEST);
        return listening.getRequest(LIMIT);
    }

    static Stream<String> names() {
        return new FactoriesTest().factories().keySet().stream();
    }

    private static Object left() {
        return List.of(Lifetime.openObjects(), FakeVerbs.live());
    }

    @ParameterizedTest
    @MethodSource("names")
    void nothingStaysBehindForWantOfMemoryOrStack(String name) throws Exception {
        int steps = FailingSteps.failAtEach(factories().get(name), FactoriesTest::left);

        // C is called, the object is constructed, and described
        assertThat(steps).isGreaterThanOrEqualTo(3);
    }

    @ParameterizedTest
    @MethodSource("names")
    void whatCannotBeUndoneIsUndoneByTheCloseOfAParent(String name) throws Exception {
        // these have no parent, or only the context that librdmacm opened and nobody closes
        if (!WITHOUT_PARENT.contains(name)) {
            FailingSteps.failTwiceAtEach(factories().get(name));
        }
    }

    @ParameterizedTest
    @CsvSource({"EventChannel, rdma_create_event_channel", "CmId, rdma_create_id", "QueuePair, rdma_create_qp",
            "SharedReceiveQueue, rdma_create_srq", "Endpoint, rdma_create_event_channel", "Endpoint, rdma_create_id",
            "Endpoint, rdma_bind_addr", "MulticastMembership, rdma_join_multicast",
            "SharedReceiveQueue of an endpoint, rdma_create_srq", "Endpoint of a request, rdma_create_event_channel",
            "Endpoint of a request, rdma_migrate_id", "'Endpoint of a request, with queues', rdma_create_qp",
            "'Endpoint, active', rdma_resolve_addr", "'Endpoint, active', rdma_resolve_route",
            "'Endpoint, active, with queues', rdma_create_qp"})
    void nothingStaysBehindIfTheDeviceIsFull(String name, String function) throws Exception {
        Object before = left();
        FakeRdmaCm.fail(function, Rdma.ENOMEM());
        try (AutoCloseable made = factories().get(name).make()) {
            throw new AssertionError(made);
        } catch (RdmaException e) {
            assertThat(e.errno()).isEqualTo(Rdma.ENOMEM());
        }
        assertThat(left()).isEqualTo(before);
    }

    @Test
    void everyClassIsInTheTable() throws Exception {
        // it is taken from a channel rather than made, see below
        Set<Class<?>> made = new LinkedHashSet<>(List.of(CmEvent.class));
        for (FailingSteps.Factory factory : factories().values()) {
            try (AutoCloseable object = factory.make()) {
                made.add(object.getClass());
            }
        }

        assertThat(ModuleClasses.made(CmId.class, NativeObject.class)).hasSizeGreaterThan(4).isSubsetOf(made);
    }

    @ParameterizedTest
    @EnumSource(names = {"ADDR_CHANGE", "CONNECT_REQUEST"})
    void anEventIsDeliveredWhenThereIsMemoryForIt(CmEventType type) throws Exception {
        FakeRdmaCm.event(id, type);
        FakeRdmaCm.event(id, type);

        FailingSteps.failAtEach(() -> channel.getEvent(LIMIT), FactoriesTest::left);

        assertThat(channel.pollEvent()).isEmpty();
    }
}
