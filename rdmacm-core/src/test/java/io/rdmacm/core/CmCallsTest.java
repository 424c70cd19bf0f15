// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Executable;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_path_data;
import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionLoop;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionRequest;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.fuzz.Fuzzer;
import io.rdmacm.verbs.fuzz.Interrupter;
import io.rdmacm.verbs.fuzz.Surface;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.ModuleClasses;
import io.rdmacm.verbs.testing.NeedsFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.AfterProperty;
import net.jqwik.api.lifecycle.BeforeProperty;

/** As its sibling of verbs: whatever of librdmacm is called with whatever, over both stand-ins. */
@AddLifecycleHook(NeedsFakeVerbs.class)
class CmCallsTest {
    private static final int CALLS = 150;
    private static final int EACH = 20;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    // As librdmacm, which never closes its devices.
    private static FakeStack stack;

    private final Surface surface;
    private long open;
    private Object live;

    CmCallsTest() throws IOException {
        surface = Surface.of(ModuleClasses.exported(CmId.class), ModuleClasses.exported(NativeObject.class));
    }

    @BeforeProperty
    void share() throws Exception {
        FakeVerbs.reset();
        FakeVerbs.recording(false);
        if (stack == null) {
            stack = new FakeStack();
        }
        long context = stack.context().handle().address();
        for (String equip : List.of("fake_equip_completion", "fake_equip_queue_pairs", "fake_equip_receive")) {
            FakeVerbs.call(equip, context);
        }
        FakeRdmaCm.call("fake_reset");
        FakeRdmaCm.shareWithVerbs();
        FakeRdmaCm.call("fake_context", context);
        open = Lifetime.openObjects();
        live = FakeVerbs.live();
    }

    @AfterProperty
    void unshare() {
        FakeRdmaCm.call("fake_context", 0);
        FakeRdmaCm.call("fake_unshare");
    }

    /** Ids in several states, and what is made of them. */
    private static final class World {
        private final List<Object> objects = new ArrayList<>();
        private final InetSocketAddress local = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.7"), 0);
        private final InetSocketAddress peer = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.8"), 7174);

        World() throws Exception {
            FakeRdmaCm.call("fake_reset");
            EventChannel channel = keep(EventChannel.open());
            keep(EventChannel.open());
            keep(CmId.open(channel, PortSpace.TCP));
            CmId bound = keep(CmId.open(channel, PortSpace.TCP));
            bound.bindAddress(local);
            ProtectionDomain domain = keep(keep(bound.context()).allocateProtectionDomain());
            keep(domain.allocate(64, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
            QueuePairInitAttributes attributes = keep(QueuePairInitAttributes.builder().type(QueuePairType.RC)
                    .completionQueue(keep(bound.context().createCompletionQueue(16))).build());
            CmId datagrams = keep(CmId.open(channel, PortSpace.UDP));
            datagrams.bindAddress(local);
            keep(datagrams.joinMulticast(new InetSocketAddress(InetAddress.ofLiteral("239.1.2.3"), 0),
                    MulticastMembership.Role.SEND_ONLY));
            CmId service = keep(CmId.open(channel, PortSpace.UDP));
            service.bindAddress(local);
            service.listen(1);
            FakeRdmaCm.event(service, CmEventType.CONNECT_REQUEST);
            keep(keep(channel.getEvent(TIMEOUT)).datagramParameters());
            CmId connected = keep(CmId.open(channel, PortSpace.TCP));
            connected.resolveAddress(peer, TIMEOUT);
            happens(connected, CmEventType.ADDR_RESOLVED);
            connected.resolveRoute(TIMEOUT);
            happens(connected, CmEventType.ROUTE_RESOLVED);
            keep(connected.createQueuePair(domain, attributes));
            connected.connect(ConnectionParameters.defaults());
            happens(connected, CmEventType.ESTABLISHED);
            CmId listener = keep(CmId.open(channel, PortSpace.TCP));
            listener.bindAddress(local);
            listener.listen(4);
            for (int i = 0; i < 3; i++) {
                FakeRdmaCm.event(listener, CmEventType.CONNECT_REQUEST);
            }
            keep(keep(channel.getEvent(TIMEOUT)).id());
            endpoints();
            connections();
            streams();
            objects.addAll(List.of(WorkCompletions.allocate(2), ScatterGatherList.allocate(2),
                    PathRecords.of(new byte[(int) ibv_path_data.sizeof()])));
            FakeRdmaCm.call("fake_recording", 0);
        }

        private <T> T keep(T object) {
            objects.add(object);
            return object;
        }

        private static void happens(CmId id, CmEventType type) throws Exception {
            FakeRdmaCm.event(id, type);
            id.channel().await(id, type, TIMEOUT).close();
        }

        private void endpoints() throws Exception {
            Endpoint endpoint = keep(Endpoint.open(PortSpace.TCP));
            endpoint.bindAddress(local);
            endpoint.createQueuePair(EndpointAttributes.defaults());
            keep(endpoint.registerMessages(Arena.ofAuto().allocate(64, 8)));
            keep(Endpoint.open(PortSpace.UDP)).bindAddress(local);
            keep(Endpoint.createPassive(local, PortSpace.TCP, null)).listen(1);
        }

        private void connections() throws Exception {
            ConnectionManager manager = keep(ConnectionManager.open());
            ConnectionLoop loop = keep(manager.openLoop(local.getAddress(), LoopSettings.builder()
                    .sharedReceives(4, 64).build()));
            keep(manager.startLoops(LoopSettings.builder().threads(2).build()));
            ConnectionSettings settings = ConnectionSettings.builder().linger(Duration.ofMillis(1)).build();
            Connection connection = accepted(manager, settings);
            messages(connection);
            keep(connection.message(8, TIMEOUT));
            keep(connection.message(8, TIMEOUT)).close();
            keep(connection.queue());
            keep(connection.async());
            keep(connection.counters());
            keep(accepted(manager, ConnectionSettings.builder().linger(Duration.ofMillis(1)).loops(loop)
                    .handler(keep(new ConnectionHandler() { })).build()));
        }

        private Connection accepted(ConnectionManager manager, ConnectionSettings settings) throws Exception {
            Listener listener = keep(manager.listen(local, 4, settings));
            long id = FakeRdmaCm.calls("rdma_listen").getLast().arguments().getFirst();
            FakeRdmaCm.call("fake_event", id, CmEventType.CONNECT_REQUEST.value());
            FakeRdmaCm.call("fake_event", id, CmEventType.CONNECT_REQUEST.value());
            keep(listener.nextRequest(TIMEOUT));
            ConnectionRequest request = keep(listener.nextRequest(TIMEOUT));
            int before = FakeRdmaCm.calls("rdma_accept").size();
            try (Background<Connection> accepting = Background.call(() -> request.accept(TIMEOUT))) {
                establish(before, accepting);
                return keep(accepting.result());
            }
        }

        /** Has the peer confirm the next id that is accepted. */
        private static void establish(int acceptedBefore, Background<?> accepting) {
            while (FakeRdmaCm.calls("rdma_accept").size() == acceptedBefore && !accepting.isDone()) {
                Thread.onSpinWait();
            }
            FakeRdmaCm.call("fake_event", FakeRdmaCm.calls("rdma_accept").getLast().arguments().getFirst(),
                    CmEventType.ESTABLISHED.value());
        }

        private void streams() throws Exception {
            keep(RdmaStream.open(StreamSettings.builder().linger(Duration.ZERO).build()));
            int before = FakeRdmaCm.calls("rdma_accept").size();
            RdmaStreamServer server = keep(RdmaStreamServer.listen(local, 4,
                    StreamSettings.builder().linger(Duration.ofMillis(1)).mapSlots(4).build()));
            long id = FakeRdmaCm.calls("rdma_listen").getLast().arguments().getFirst();
            try (Arena arena = Arena.ofConfined();
                    Background<RdmaStream> accepting = Background.call(() -> server.accept(TIMEOUT))) {
                // version, flags, credits, slots for mappings, target list, buffer: see rsocket(7)
                MemorySegment hello = arena.allocateFrom(ValueLayout.JAVA_BYTE, ByteBuffer.allocate(40)
                        .put((byte) 1).put((byte) 2).putShort((short) 64).put(7, (byte) 4)
                        .putLong(8, 4096).putInt(16, 17).putInt(20, 2)
                        .putLong(24, 8192).putInt(32, 18).putInt(36, 4096).array());
                FakeRdmaCm.call("fake_private_data", hello.address(), hello.byteSize());
                FakeRdmaCm.call("fake_event", id, CmEventType.CONNECT_REQUEST.value());
                FakeRdmaCm.call("fake_private_data", 0, 0);
                establish(before, accepting);
                keep(keep(accepting.result()).map(Arena.ofAuto().allocate(64), 0));
            }
        }

        /** Two that have come. */
        private void messages(Connection connection) throws Exception {
            for (int buffer = 0; buffer < 2; buffer++) {
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment completion = ibv_wc.allocate(arena);
                    // as the connection numbers its receives
                    ibv_wc.wr_id(completion, ~buffer);
                    ibv_wc.qp_num(completion, connection.queuePair().number());
                    ibv_wc.opcode(completion, Rdma.IBV_WC_RECV());
                    ibv_wc.byte_len(completion, 8);
                    FakeVerbs.complete(connection.queuePair().receiveCompletionQueue().handle(), completion);
                }
                keep(connection.receive(TIMEOUT));
            }
        }
    }

    private void assertNothingIsLeft() {
        assertThat(Lifetime.openObjects()).describedAs("objects left open").isEqualTo(open);
        assertThat(FakeVerbs.live()).describedAs("objects of C left").isEqualTo(live);
    }

    @Property(tries = 20, shrinking = ShrinkingMode.OFF)
    void onlyDocumentedExceptionsComeOut(@ForAll long seed) throws Exception {
        World world = new World();
        try (Interrupter interrupter = new Interrupter()) {
            Fuzzer fuzzer = new Fuzzer(surface, new Random(seed), interrupter, world.objects);
            for (int i = 0; i < CALLS; i++) {
                fuzzer.call();
            }
            fuzzer.closeAll();
        }
        assertNothingIsLeft();
    }

    /** Each method, not only those that chance chooses. */
    @Property(tries = 1, shrinking = ShrinkingMode.OFF)
    void everyMethodIsCalled(@ForAll long seed) throws Exception {
        List<Executable> never = new ArrayList<>();
        World world = new World();
        try (Interrupter interrupter = new Interrupter()) {
            Fuzzer fuzzer = new Fuzzer(surface, new Random(seed), interrupter, world.objects);
            for (Executable call : surface.calls()) {
                boolean called = false;
                for (int i = 0; i < EACH; i++) {
                    called |= fuzzer.call(call);
                }
                if (!called) {
                    never.add(call);
                }
            }
            fuzzer.closeAll();
        }
        assertNothingIsLeft();
        // exceptions are made by events that fail, handlers by programs
        assertThat(never).filteredOn(call -> !Exception.class.isAssignableFrom(call.getDeclaringClass())
                && !call.getDeclaringClass().isInterface()).isEmpty();
    }
}
