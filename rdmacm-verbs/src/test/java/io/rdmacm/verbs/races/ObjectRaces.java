// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.races;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.AsyncEvent;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.ImplicitMemoryRegion;
import io.rdmacm.verbs.IndirectionTable;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.MemoryWindow;
import io.rdmacm.verbs.MemoryWindowBinding;
import io.rdmacm.verbs.MulticastAttachment;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ParentDomain;
import io.rdmacm.verbs.ParentDomainAttributes;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.ThreadDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkQueue;
import io.rdmacm.verbs.XrcDomain;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.flow.Counters;
import io.rdmacm.verbs.flow.EspAttributes;
import io.rdmacm.verbs.flow.EspFlag;
import io.rdmacm.verbs.flow.EspKeyMaterial;
import io.rdmacm.verbs.flow.EspParameters;
import io.rdmacm.verbs.flow.Flow;
import io.rdmacm.verbs.flow.FlowAction;
import io.rdmacm.verbs.flow.FlowAttributes;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.SendOperation;

/** The other objects of libibverbs; and every method without arguments of each class. */
public final class ObjectRaces implements Races {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int PAGE = 4096;

    private final FakeStack stack = new FakeStack();
    private final QueuePair inlining;
    private final QueuePair datagrams;
    private final MemoryRegion bindable;
    private final WorkQueue workQueue;
    private final MemorySegment bytes = Arena.global().allocate(64, 8);

    /** Opens what all races need. */
    public ObjectRaces() throws RdmaException {
        equip(stack.context());
        inlining = stack.domain().createQueuePair(QueuePairInitAttributes.builder().completionQueue(stack.queue())
                .maxInlineData(64).sendOperations(List.of(SendOperation.SEND)).build());
        datagrams = stack.domain().createQueuePair(QueuePairInitAttributes.builder().type(QueuePairType.UD)
                .completionQueue(stack.queue()).build());
        bindable = stack.domain().allocate(64, AccessFlag.MW_BIND);
        workQueue = stack.domain().createWorkQueue(stack.queue(), 4, 1);
    }

    private static void equip(VerbsContext context) {
        for (String equip : List.of("fake_equip_completion", "fake_equip_queue_pairs", "fake_equip_receive",
                "fake_serve_memory", "fake_equip_work_queues", "fake_equip_flows")) {
            FakeVerbs.call(equip, context.handle().address());
        }
    }

    /** Memory that the stand-in watches, and a region of it. */
    private record WatchedRegion(MemorySegment memory, MemoryRegion region) {
    }

    private WatchedRegion watchedRegion() throws RdmaException {
        MemorySegment memory = Memory.view(FakeVerbs.call("fake_allocate", PAGE), PAGE);
        return new WatchedRegion(memory, stack.domain().register(memory, AccessFlag.LOCAL_WRITE));
    }

    private static void free(WatchedRegion watched) {
        FakeVerbs.call("fake_free", watched.memory.address());
    }

    private Race.Act<WatchedRegion> postInline() {
        SendRequest request = SendRequests.allocate(1, 1).get(0).send().inline(true);
        return watched -> {
            request.data(watched.region, 0, 8);
            stack.queuePair().postSend(request);
        };
    }

    private Race.Act<WatchedRegion> batchInline() {
        return watched -> {
            try (SendBatch batch = inlining.startBatch()) {
                batch.inline(true).send().inlineData(watched.region, 0, 8);
                batch.complete();
            }
        };
    }

    private Race.Act<AddressHandle> postDatagram() {
        SendRequest request = SendRequests.allocate(1, 1).get(0).send();
        return handle -> {
            request.datagram(handle, 1, 1);
            datagrams.postSend(request);
        };
    }

    private Race.Act<MemoryWindow> postBind() {
        SendRequest request = SendRequests.allocate(1, 1).get(0);
        return window -> {
            request.bindMemoryWindow(window, window.remoteKey(), MemoryWindowBinding.of(bindable, 0, 8));
            stack.queuePair().postSend(request);
        };
    }

    /** Until nothing made of it is open any more. */
    private static <T extends NativeObject> void closeAsSoonAsPossible(T object) throws RdmaException {
        while (true) {
            try {
                object.close();
                return;
            } catch (IllegalStateException e) {
                Thread.yield();
            }
        }
    }

    private static VerbsContext open() throws RdmaException {
        VerbsContext context = Device.list().getFirst().open();
        equip(context);
        return context;
    }

    private static VerbsContext openWithEvents() throws RdmaException {
        VerbsContext context = open();
        FakeVerbs.async(context.handle(), AsyncEventType.PORT_ACTIVE.value(), 1);
        return context;
    }

    /** A queue pair whose event is on its way. */
    private QueuePair withEvent() throws RdmaException {
        QueuePair pair = stack.domain().createQueuePair(
                QueuePairInitAttributes.builder().completionQueue(stack.queue()).build());
        FakeVerbs.async(stack.context().handle(), AsyncEventType.COMM_EST.value(), pair.handle().address());
        return pair;
    }

    private void takeEvents(QueuePair pair) throws RdmaException {
        try {
            Optional<AsyncEvent> event = stack.context().pollAsyncEvent();
            if (event.isPresent()) {
                event.get().close();
            }
        } finally {
            pair.number();
        }
    }

    @Override
    public List<Race<?>> all() throws Exception {
        List<Race<?>> races = new ArrayList<>(List.of(
                Race.of("MemoryRegion inline/close", this::watchedRegion).use(postInline())
                        .close(watched -> watched.region.close()).end(ObjectRaces::free),
                Race.of("MemoryRegion inline/close, its memory freed at once", this::watchedRegion).use(postInline())
                        .close(watched -> {
                            watched.region.close();
                            free(watched);
                        }),
                Race.of("MemoryRegion inline in a batch/close, its memory freed at once", this::watchedRegion)
                        .use(batchInline())
                        .close(watched -> {
                            watched.region.close();
                            stack.domain().allocate(8).close();
                        }).end(ObjectRaces::free),
                Race.of("MemoryRegion memory/close", () -> stack.domain().allocate(64, AccessFlag.LOCAL_WRITE))
                        .use(region -> region.memory().set(ValueLayout.JAVA_LONG, 0, 1)).close(MemoryRegion::close),
                Race.of("MemoryRegion inline/keys/close/close",
                        () -> stack.domain().allocate(64, AccessFlag.LOCAL_WRITE))
                        .use(postInlineOf()).use(MemoryRegion::localKey)
                        .close(ObjectRaces::closeAsSoonAsPossible).close(ObjectRaces::closeAsSoonAsPossible),
                Race.of("AddressHandle post/close",
                        () -> stack.domain().createAddressHandle(AddressAttributes.builder().build()))
                        .use(postDatagram()).close(AddressHandle::close),
                Race.of("MemoryWindow post/close",
                        () -> stack.domain().allocateMemoryWindow(MemoryWindowType.TYPE_2))
                        .use(postBind()).close(ObjectRaces::closeAsSoonAsPossible),
                Race.of("DeviceMemory copy/copy/close", () -> stack.context().allocateDeviceMemory(64, 0))
                        .use(memory -> memory.copyFrom(0, bytes)).use(memory -> memory.copyTo(0, bytes))
                        .close(DeviceMemory::close),
                Race.of("Counters read/close", () -> Counters.create(stack.context()))
                        .use(counters -> counters.read(2, false)).close(Counters::close)));
        races.addAll(List.of(
                Race.of("ProtectionDomain register/close", () -> stack.context().allocateProtectionDomain())
                        .use(domain -> domain.register(bytes).close()).close(ObjectRaces::closeAsSoonAsPossible),
                Race.of("ProtectionDomain register/createAddressHandle/createQueuePair/close/close",
                        () -> stack.context().allocateProtectionDomain())
                        .use(domain -> domain.register(bytes).close())
                        .use(domain -> domain.createAddressHandle(AddressAttributes.builder().build()).close())
                        .use(domain -> domain.createQueuePair(
                                QueuePairInitAttributes.builder().completionQueue(stack.queue()).build()).close())
                        .close(ObjectRaces::closeAsSoonAsPossible).close(ObjectRaces::closeAsSoonAsPossible),
                Race.of("VerbsContext getAsyncEvent/close", ObjectRaces::openWithEvents)
                        .await(context -> context.getAsyncEvent(LONG).close())
                        .close(ObjectRaces::closeAsSoonAsPossible),
                Race.of("VerbsContext create/queryPort/getAsyncEvent/close/close", ObjectRaces::openWithEvents)
                        .use(context -> context.createCompletionQueue(1).close())
                        .use(context -> context.queryGid(1, 0))
                        .await(context -> context.getAsyncEvent(LONG).close())
                        .close(ObjectRaces::closeAsSoonAsPossible).close(ObjectRaces::closeAsSoonAsPossible),
                Race.of("AsyncEvent take/take/close of its queue pair", this::withEvent)
                        .use(this::takeEvents).use(this::takeEvents).close(ObjectRaces::closeAsSoonAsPossible)));
        for (Map.Entry<Class<?>, Race.Maker<? extends NativeObject>> entry : makers().entrySet()) {
            races.add(everyMethod(entry.getKey(), entry.getValue()));
        }
        return races;
    }

    private Race.Act<MemoryRegion> postInlineOf() {
        SendRequest request = SendRequests.allocate(1, 1).get(0).send().inline(true);
        return region -> {
            request.data(region, 0, 8);
            stack.queuePair().postSend(request);
        };
    }

    private Map<Class<?>, Race.Maker<? extends NativeObject>> makers() {
        Map<Class<?>, Race.Maker<? extends NativeObject>> makers = new LinkedHashMap<>();
        ProtectionDomain domain = stack.domain();
        VerbsContext context = stack.context();
        makers.put(VerbsContext.class, ObjectRaces::open);
        makers.put(ProtectionDomain.class, context::allocateProtectionDomain);
        makers.put(ParentDomain.class,
                () -> domain.allocateParentDomain(ParentDomainAttributes.create()));
        makers.put(ThreadDomain.class, context::allocateThreadDomain);
        makers.put(MemoryRegion.class, () -> domain.register(bytes));
        makers.put(ImplicitMemoryRegion.class, domain::registerAllMemory);
        makers.put(MemoryWindow.class, () -> domain.allocateMemoryWindow(MemoryWindowType.TYPE_1));
        makers.put(DeviceMemory.class, () -> context.allocateDeviceMemory(64, 0));
        makers.put(AddressHandle.class, () -> domain.createAddressHandle(AddressAttributes.builder().build()));
        makers.put(CompletionChannel.class, context::createCompletionChannel);
        makers.put(CompletionQueue.class, () -> context.createCompletionQueue(4, stack.channel()));
        makers.put(ExtendedCompletionQueue.class,
                () -> context.createExtendedCompletionQueue(CompletionQueueInitAttributes.builder(1).build()));
        makers.put(QueuePair.class, () -> domain.createQueuePair(
                QueuePairInitAttributes.builder().completionQueue(stack.queue()).build()));
        makers.put(SharedReceiveQueue.class,
                () -> domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().build()));
        makers.put(WorkQueue.class, () -> domain.createWorkQueue(stack.queue(), 4, 1));
        makers.put(IndirectionTable.class, () -> context.createIndirectionTable(List.of(workQueue)));
        makers.put(XrcDomain.class, context::openXrcDomain);
        makers.put(Counters.class, () -> Counters.create(context));
        makers.put(Flow.class, () -> Flow.create(datagrams, FlowAttributes.builder().build()));
        makers.put(FlowAction.class, () -> FlowAction.createEsp(context, EspAttributes.builder()
                .parameters(EspParameters.of(EspFlag.ENCRYPT))
                .keyMaterial(new EspKeyMaterial(1, 2, 12, new byte[16])).build()));
        makers.put(MulticastAttachment.class, () -> datagrams.attachMulticast(new Gid(-1, 1), 0));
        return makers;
    }

    /** The methods that need no argument, each in turn, and those of the superclass. */
    private static <T extends NativeObject> Race<T> everyMethod(Class<?> type, Race.Maker<T> maker) {
        List<Method> methods = Arrays.stream(type.getMethods())
                .filter(method -> method.getParameterCount() == 0 && !Modifier.isStatic(method.getModifiers())
                        && method.getDeclaringClass() != Object.class
                        && !Set.of("close", "isOpen", "toString").contains(method.getName()))
                .toList();
        return Race.of(type.getSimpleName() + " every method/close", maker).use(object -> {
            for (Method method : methods) {
                call(method, object);
            }
        }).close(ObjectRaces::closeAsSoonAsPossible);
    }

    private static void call(Method method, NativeObject object) throws Exception {
        try {
            if (method.invoke(object) instanceof NativeObject made && Set.of("create", "allocate", "open", "register")
                    .stream().anyMatch(method.getName()::startsWith)) {
                made.close();
            }
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof IllegalStateException && object.isOpen()) {
                // it has no such part
                return;
            }
            if (e.getCause() instanceof RdmaException) {
                // nor the device
                return;
            }
            throw e.getCause() instanceof Exception exception ? exception : e;
        }
    }

    @Override
    public String misuse() {
        return Misuse.found();
    }

    @Override
    public void close() throws RdmaException {
        workQueue.close();
        bindable.close();
        datagrams.close();
        inlining.close();
        stack.close();
    }
}
