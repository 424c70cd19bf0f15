// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.counter.CompletionCounter;
import io.rdmacm.verbs.counter.CompletionCounterType;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.flow.Counters;
import io.rdmacm.verbs.flow.Flow;
import io.rdmacm.verbs.flow.FlowAction;
import io.rdmacm.verbs.flow.FlowActionTest;
import io.rdmacm.verbs.flow.FlowAttributes;
import io.rdmacm.verbs.internal.life.FailingSteps;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.memory.DmaBuf;
import io.rdmacm.verbs.memory.DmaHandle;
import io.rdmacm.verbs.memory.DmaHandleAttributes;
import io.rdmacm.verbs.memory.VerbsBuffer;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever fails while an object is made, nothing of it stays behind, and its parents can be closed. */
@WithFakeVerbs
class FactoriesTest {
    private final Deque<AutoCloseable> closing = new ArrayDeque<>();
    private FakeStack stack;
    private VerbsContext context;
    private ProtectionDomain domain;
    private QueuePair datagrams;
    private WorkQueue workQueue;
    private DeviceMemory deviceMemory;
    private ImplicitMemoryRegion all;
    private XrcDomain xrc;
    private ThreadDomain threadDomain;
    private int groups;

    @BeforeEach
    void open() throws RdmaException {
        stack = own(new FakeStack());
        context = stack.context();
        for (String part : List.of("fake_equip_completion", "fake_equip_queue_pairs", "fake_equip_receive",
                "fake_serve_memory", "fake_equip_work_queues", "fake_equip_flows")) {
            FakeVerbs.call(part, context.handle().address());
        }
        domain = stack.domain();
        datagrams = own(domain.createQueuePair(datagrams()));
        workQueue = own(domain.createWorkQueue(stack.queue(), 1, 1));
        deviceMemory = own(context.allocateDeviceMemory(64, 0));
        all = own(domain.registerAllMemory());
        xrc = own(context.openXrcDomain());
        threadDomain = own(context.allocateThreadDomain());
    }

    /** Fails if something below them is still open. */
    @AfterEach
    void close() throws Exception {
        while (!closing.isEmpty()) {
            closing.pop().close();
        }
    }

    private <T extends AutoCloseable> T own(T object) {
        closing.push(object);
        return object;
    }

    private QueuePairInitAttributes datagrams() {
        return QueuePairInitAttributes.builder().type(QueuePairType.UD).completionQueue(stack.queue()).build();
    }

    private CompletionQueueInitAttributes events() {
        return CompletionQueueInitAttributes.builder(4).channel(stack.channel()).build();
    }

    private Map<String, FailingSteps.Factory> factories() {
        Map<String, FailingSteps.Factory> table = new TreeMap<>();
        table.put("VerbsContext", () -> Device.list().getFirst().open());
        table.put("ProtectionDomain", () -> context.allocateProtectionDomain());
        table.put("ProtectionDomain imported", () -> context.importProtectionDomain(1));
        table.put("ParentDomain", () -> domain.allocateParentDomain(ParentDomainAttributes.create()
                .threadDomain(threadDomain).allocator(new NoAllocator())));
        table.put("ThreadDomain", () -> context.allocateThreadDomain());
        table.put("XrcDomain", () -> context.openXrcDomain());
        table.put("CompletionChannel", () -> context.createCompletionChannel());
        table.put("CompletionQueue", () -> context.createCompletionQueue(4));
        table.put("CompletionQueue with events", () -> context.createCompletionQueue(4, stack.channel()));
        table.put("ExtendedCompletionQueue", () -> context.createExtendedCompletionQueue(events()));
        table.put("QueuePair", () -> domain.createQueuePair(datagrams()));
        table.put("QueuePair of an XRC domain", () -> xrc.createQueuePair(QueuePairInitAttributes.builder()
                .type(QueuePairType.XRC_RECV).build()));
        table.put("QueuePair opened", () -> xrc.openQueuePair(1));
        table.put("SharedReceiveQueue", () -> domain.createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().build()));
        table.put("WorkQueue", () -> domain.createWorkQueue(stack.queue(), 1, 1));
        table.put("IndirectionTable", () -> context.createIndirectionTable(List.of(workQueue)));
        table.put("AddressHandle", () -> domain.createAddressHandle(AddressAttributes.builder().build()));
        table.put("MulticastAttachment", () -> datagrams.attachMulticast(new Gid(-1, ++groups), 0));
        table.put("MemoryRegion allocated", () -> domain.allocate(64));
        table.put("MemoryRegion", () -> domain.register(Arena.ofAuto().allocate(64)));
        table.put("MemoryRegion imported", () -> domain.importRegion(1));
        table.put("MemoryRegion null", () -> domain.allocateNullRegion());
        table.put("MemoryRegion of device memory", () -> domain.register(deviceMemory, 0, 64, AccessFlag.ZERO_BASED));
        table.put("MemoryRegion part", () -> all.part(Arena.ofAuto().allocate(64)));
        table.put("ImplicitMemoryRegion", () -> domain.registerAllMemory());
        table.put("DeviceMemory", () -> context.allocateDeviceMemory(64, 0));
        table.put("DeviceMemory imported", () -> context.importDeviceMemory(1));
        table.put("MemoryWindow", () -> domain.allocateMemoryWindow(MemoryWindowType.TYPE_2));
        table.put("VerbsBuffer", () -> VerbsBuffer.allocate(domain, 64));
        table.put("DmaHandle", () -> DmaHandle.allocate(context, DmaHandleAttributes.defaults()));
        table.put("DmaBuf", () -> DmaBuf.export(deviceMemory));
        table.put("RegisteredPool", () -> RegisteredPool.create(domain, 64));
        table.put("CompletionCounter", () -> CompletionCounter.create(context, CompletionCounterType.WRS));
        table.put("Counters", () -> Counters.create(context));
        table.put("FlowAction", () -> FlowAction.createEsp(context, FlowActionTest.complete()));
        table.put("Flow", () -> Flow.create(datagrams, FlowAttributes.builder().build()));
        return table;
    }

    private static final class NoAllocator implements ParentDomainAllocator {
        @Override
        public Optional<MemorySegment> allocate(long bytes, long alignment, long resourceType) {
            return Optional.empty();
        }

        @Override
        public void free(MemorySegment memory, long resourceType) {
            // nothing was allocated
        }
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
        // these have no parent
        if (!Set.of("VerbsContext", "DmaBuf").contains(name)) {
            FailingSteps.failTwiceAtEach(factories().get(name));
        }
    }

    @ParameterizedTest
    @MethodSource("names")
    void whatALifetimeKeepsDoesNotHideThatItsParentsAreLost(String name) throws Exception {
        AutoCloseable made = factories().get(name).make();
        Lifetime life = made instanceof NativeObject object ? object.life() : null;
        if (life == null) {
            made.close();
            return;
        }
        assertThat(reachableFrom(life)).filteredOn(NativeObject.class::isInstance).isEmpty();
        made.close();
    }

    /** Returns what is reachable from an object of this library, without that of the JDK. */
    private static Set<Object> reachableFrom(Object root) throws IllegalAccessException {
        Set<Object> found = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Object> left = new ArrayDeque<>(List.of(root));
        while (!left.isEmpty()) {
            Object object = left.pop();
            if (!found.add(object)) {
                continue;
            }
            if (object instanceof Collection<?> all) {
                left.addAll(all);
            } else if (object.getClass().getName().startsWith("io.rdmacm.") && !object.getClass().isEnum()) {
                for (Field field : object.getClass().getDeclaredFields()) {
                    if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
                        field.setAccessible(true);
                        Stream.ofNullable(field.get(object)).forEach(left::push);
                    }
                }
            }
        }
        return found;
    }

    @ParameterizedTest
    @MethodSource("names")
    void nothingStaysBehindIfTheDeviceIsFull(String name) throws Exception {
        FailingSteps.Factory factory = factories().get(name);
        FakeVerbs.reset();
        AutoCloseable first = factory.make();
        Set<String> functions = new TreeSet<>(FakeVerbs.functions());
        first.close();
        List<String> failed = new ArrayList<>();
        for (String function : functions) {
            Object before = left();
            FakeVerbs.reset();
            FakeVerbs.fail(function, Rdma.ENOMEM());
            try (AutoCloseable made = factory.make()) {
                assertThat(made).isNotNull();
            } catch (RdmaException e) {
                failed.add(function);
            }
            FakeVerbs.reset();
            assertThat(left()).as("left behind by a failed %s", function).isEqualTo(before);
        }
        // the pool is content with less, and a part of a region is made without C
        assertThat(failed.isEmpty()).isEqualTo(Set.of("RegisteredPool", "MemoryRegion part").contains(name));
    }

    @Test
    void anEventIsDeliveredWhenThereIsMemoryForIt() throws Exception {
        FakeVerbs.async(context.handle(), AsyncEventType.PORT_ACTIVE.value(), 1);
        FakeVerbs.async(context.handle(), AsyncEventType.PORT_ACTIVE.value(), 1);

        FailingSteps.failAtEach(() -> context.pollAsyncEvent().orElseThrow(), FactoriesTest::left);

        assertThat(context.pollAsyncEvent()).isEmpty();
    }
}
