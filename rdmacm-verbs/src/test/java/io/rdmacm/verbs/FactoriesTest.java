// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_grh;
import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.counter.CompletionCounter;
import io.rdmacm.verbs.counter.CompletionCounterType;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.device.RxHashFunction;
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
import io.rdmacm.verbs.memory.ExtendedRegistration;
import io.rdmacm.verbs.memory.VerbsBuffer;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.pool.RegistrationCache;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.XrcDomainFlag;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.ModuleClasses;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletionFlag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever fails while an object is made, nothing of it stays behind, and its parents can be closed. */
@WithFakeVerbs
class FactoriesTest {
    private static final MemorySegment KEPT = Arena.ofAuto().allocate(64);
    // some file
    private static final Path FILE = Path.of(System.getProperty("java.home"), "release");
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    // what C is not called for, or can do without
    private static final Set<String> NEVER_REFUSED = Set.of("RegisteredPool", "MemoryRegion part", "RegistrationCache",
            "CachedRegistration of a region that is there");
    // these have no parent
    private static final Set<String> WITHOUT_PARENT = Set.of("VerbsContext", "VerbsContext imported", "DmaBuf",
            "DmaBuf of a buffer");

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
    private IndirectionTable table;
    private SharedReceiveQueue receives;
    private VerbsBuffer buffer;
    private DmaHandle dmaHandle;
    private WorkCompletions received;
    private RegistrationCache cache;
    private RegistrationCache small;
    private RegisteredPool pool;
    private RegisteredSlice slice;
    private int nullDevice;
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
        table = own(context.createIndirectionTable(List.of(workQueue)));
        receives = own(domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().build()));
        buffer = own(VerbsBuffer.allocate(domain, 64));
        dmaHandle = own(DmaHandle.allocate(context, DmaHandleAttributes.defaults()));
        received = received();
        cache = own(RegistrationCache.builder(domain).build());
        own(cache.register(KEPT));
        small = own(RegistrationCache.builder(domain).maxEntries(1).build());
        nullDevice = (int) FakeVerbs.call("fake_open_null");
        closing.push(() -> FakeVerbs.call("close", nullDevice));
        fillPool();
        closing.push(this::closePool);
    }

    /** Opens a pool whose next slice needs a second slab. */
    private void fillPool() throws RdmaException {
        pool = RegisteredPool.builder(domain).sliceSize(64).firstSlab(1).maxSlab(1).build();
        slice = pool.take();
    }

    private void closePool() throws RdmaException {
        slice.close();
        pool.close();
    }

    private WorkCompletions received() throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment completion = ibv_wc.allocate(arena);
            ibv_wc.opcode(completion, Rdma.IBV_WC_RECV());
            ibv_wc.wc_flags(completion, WorkCompletionFlag.GRH.bit());
            FakeVerbs.complete(stack.queue().handle(), completion);
        }
        WorkCompletions completions = WorkCompletions.allocate(1);
        assertThat(stack.queue().poll(completions)).isEqualTo(1);
        completions.next();
        return completions;
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

    private QueuePairInitAttributes.Builder connected() {
        return QueuePairInitAttributes.builder().completionQueue(stack.queue());
    }

    private static MemorySegment memory() {
        return Arena.ofAuto().allocate(64);
    }

    private Map<String, FailingSteps.Factory> factories() {
        Map<String, FailingSteps.Factory> rows = new TreeMap<>(contexts());
        rows.putAll(queues());
        rows.putAll(memories());
        rows.putAll(pools());
        return rows;
    }

    private Map<String, FailingSteps.Factory> contexts() {
        Map<String, FailingSteps.Factory> rows = new TreeMap<>();
        rows.put("VerbsContext", () -> Device.list().getFirst().open());
        rows.put("VerbsContext imported", () -> Device.importDevice(nullDevice));
        rows.put("ProtectionDomain", () -> context.allocateProtectionDomain());
        rows.put("ProtectionDomain imported", () -> context.importProtectionDomain(1));
        rows.put("ParentDomain", () -> domain.allocateParentDomain(ParentDomainAttributes.create()
                .threadDomain(threadDomain).allocator(new NoAllocator())));
        rows.put("ThreadDomain", () -> context.allocateThreadDomain());
        rows.put("XrcDomain", () -> context.openXrcDomain());
        rows.put("XrcDomain of a file", () -> context.openXrcDomain(FILE, XrcDomainFlag.CREAT));
        rows.put("CompletionCounter", () -> CompletionCounter.create(context, CompletionCounterType.WRS));
        rows.put("Counters", () -> Counters.create(context));
        rows.put("FlowAction", () -> FlowAction.createEsp(context, FlowActionTest.complete()));
        rows.put("Flow", () -> Flow.create(datagrams, FlowAttributes.builder().build()));
        return rows;
    }

    private Map<String, FailingSteps.Factory> queues() {
        Map<String, FailingSteps.Factory> rows = new TreeMap<>();
        rows.put("CompletionChannel", () -> context.createCompletionChannel());
        rows.put("CompletionQueue", () -> context.createCompletionQueue(4));
        rows.put("CompletionQueue with events", () -> context.createCompletionQueue(4, stack.channel()));
        rows.put("ExtendedCompletionQueue", () -> context.createExtendedCompletionQueue(events()));
        rows.put("QueuePair", () -> domain.createQueuePair(datagrams()));
        rows.put("QueuePair with batches", () -> domain.createQueuePair(connected()
                .sendOperations(List.of(SendOperation.SEND)).build()));
        rows.put("QueuePair with a shared receive queue", () -> domain.createQueuePair(connected()
                .sharedReceiveQueue(receives).build()));
        rows.put("QueuePair that spreads its receives", () -> domain.createQueuePair(QueuePairInitAttributes.builder()
                .type(QueuePairType.RAW_PACKET).receiveSideScaling(new ReceiveSideScaling(table,
                        RxHashFunction.TOEPLITZ, new byte[40], Set.of(RxHashField.SRC_IPV4))).build()));
        rows.put("QueuePair that sends to an XRC domain", () -> domain.createQueuePair(connected()
                .type(QueuePairType.XRC_SEND).build()));
        rows.put("QueuePair of an XRC domain", () -> xrc.createQueuePair(QueuePairInitAttributes.builder()
                .type(QueuePairType.XRC_RECV).build()));
        rows.put("QueuePair opened", () -> xrc.openQueuePair(1));
        rows.put("SharedReceiveQueue", () -> domain.createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().build()));
        rows.put("SharedReceiveQueue of an XRC domain", () -> domain.createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().xrc(xrc, stack.queue()).build()));
        rows.put("SharedReceiveQueue with tags", () -> domain.createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().tagMatching(stack.queue(), 1, 1).build()));
        rows.put("WorkQueue", () -> domain.createWorkQueue(stack.queue(), 1, 1));
        rows.put("IndirectionTable", () -> context.createIndirectionTable(List.of(workQueue)));
        rows.put("AddressHandle", () -> domain.createAddressHandle(AddressAttributes.builder().build()));
        rows.put("AddressHandle of a completion", () -> domain.createAddressHandle(received,
                MemorySegment.ofArray(new byte[(int) ibv_grh.sizeof()]), 1));
        rows.put("MulticastAttachment", () -> datagrams.attachMulticast(new Gid(-1, ++groups), 0));
        return rows;
    }

    private Map<String, FailingSteps.Factory> memories() {
        Map<String, FailingSteps.Factory> rows = new TreeMap<>();
        rows.put("MemoryRegion allocated", () -> domain.allocate(64));
        rows.put("MemoryRegion", () -> domain.register(memory()));
        rows.put("MemoryRegion with optional access", () -> domain.register(memory(), AccessFlag.RELAXED_ORDERING));
        rows.put("MemoryRegion at an address", () -> domain.registerAt(memory(), 0));
        rows.put("MemoryRegion of a DMA-BUF", () -> domain.registerDmaBuf(0, 0, 64, 0));
        rows.put("MemoryRegion imported", () -> domain.importRegion(1));
        rows.put("MemoryRegion null", () -> domain.allocateNullRegion());
        rows.put("MemoryRegion of device memory", () -> domain.register(deviceMemory, 0, 64, AccessFlag.ZERO_BASED));
        rows.put("MemoryRegion part", () -> all.part(memory()));
        rows.put("MemoryRegion of a buffer", () -> buffer.register(0, 64));
        rows.put("MemoryRegion extended", () -> ExtendedRegistration.of(memory()).register(domain));
        rows.put("MemoryRegion extended, of a buffer", () -> ExtendedRegistration.of(buffer, 0, 64)
                .dmaHandle(dmaHandle).register(domain));
        rows.put("ImplicitMemoryRegion", () -> domain.registerAllMemory());
        rows.put("DeviceMemory", () -> context.allocateDeviceMemory(64, 0));
        rows.put("DeviceMemory imported", () -> context.importDeviceMemory(1));
        rows.put("MemoryWindow", () -> domain.allocateMemoryWindow(MemoryWindowType.TYPE_2));
        rows.put("VerbsBuffer", () -> VerbsBuffer.allocate(domain, 64));
        rows.put("DmaHandle", () -> DmaHandle.allocate(context, DmaHandleAttributes.defaults()));
        rows.put("DmaBuf", () -> DmaBuf.export(deviceMemory));
        rows.put("DmaBuf of a buffer", () -> buffer.exportDmaBuf());
        return rows;
    }

    private Map<String, FailingSteps.Factory> pools() {
        Map<String, FailingSteps.Factory> rows = new TreeMap<>();
        rows.put("RegisteredPool", () -> RegisteredPool.create(domain, 64));
        rows.put("RegisteredSlice of a second slab", () -> pool.take());
        rows.put("RegistrationCache", () -> RegistrationCache.builder(domain).build());
        rows.put("CachedRegistration", () -> cache.register(memory()));
        rows.put("CachedRegistration of a region that is there", () -> cache.register(KEPT));
        rows.put("CachedRegistration in place of another", () -> {
            small.register(memory()).close();
            return small.register(memory());
        });
        return rows;
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

    /** What there is, without what caches and pools keep for later. */
    private Object left() throws Exception {
        cache.trim();
        small.trim();
        closePool();
        fillPool();
        return List.of(Lifetime.openObjects(), FakeVerbs.live(), openFiles());
    }

    /** How many descriptors there are of the files that are used here. */
    private static long openFiles() throws IOException {
        try (Stream<Path> descriptors = Files.list(DESCRIPTORS)) {
            Set<Path> used = Set.of(FILE.toRealPath(), Path.of("/dev/null"));
            return descriptors.filter(descriptor -> used.contains(target(descriptor))).count();
        }
    }

    private static Path target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor);
        } catch (IOException e) {
            // closed by now, such as that of the list
            return descriptor;
        }
    }

    @ParameterizedTest
    @MethodSource("names")
    void nothingStaysBehindForWantOfMemoryOrStack(String name) throws Exception {
        int steps = FailingSteps.failAtEach(factories().get(name), this::left);

        // C is called, the object is constructed, and described
        assertThat(steps).isGreaterThanOrEqualTo(3);
    }

    @ParameterizedTest
    @MethodSource("names")
    void whatCannotBeUndoneIsUndoneByTheCloseOfAParent(String name) throws Exception {
        if (!WITHOUT_PARENT.contains(name)) {
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
        assertThat(failed.isEmpty()).isEqualTo(NEVER_REFUSED.contains(name));
    }

    @Test
    void everyClassIsInTheTable() throws Exception {
        // it is taken from a context rather than made, see below
        Set<Class<?>> made = new LinkedHashSet<>(List.of(AsyncEvent.class));
        for (FailingSteps.Factory factory : factories().values()) {
            try (AutoCloseable object = factory.make()) {
                made.add(object.getClass());
            }
        }

        // drivers have tables of their own
        assertThat(ModuleClasses.made(NativeObject.class, NativeObject.class)).hasSizeGreaterThan(20)
                .filteredOn(type -> !type.getName().matches(".*\\.(mlx5|efa)\\..*")).isSubsetOf(made);
    }

    @Test
    void anEventIsDeliveredWhenThereIsMemoryForIt() throws Exception {
        FakeVerbs.async(context.handle(), AsyncEventType.PORT_ACTIVE.value(), 1);
        FakeVerbs.async(context.handle(), AsyncEventType.PORT_ACTIVE.value(), 1);

        FailingSteps.failAtEach(() -> context.pollAsyncEvent().orElseThrow(), this::left);

        assertThat(context.pollAsyncEvent()).isEmpty();
    }
}
