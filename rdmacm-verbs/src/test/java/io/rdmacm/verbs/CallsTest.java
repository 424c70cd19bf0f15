// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Executable;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.efa.EfaQueuePair;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.flow.Counters;
import io.rdmacm.verbs.flow.Flow;
import io.rdmacm.verbs.flow.FlowAction;
import io.rdmacm.verbs.flow.FlowActionTest;
import io.rdmacm.verbs.flow.FlowAttributes;
import io.rdmacm.verbs.fuzz.Fuzzer;
import io.rdmacm.verbs.fuzz.Interrupter;
import io.rdmacm.verbs.fuzz.Surface;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.mlx5.Mlx5Device;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.ModuleClasses;
import io.rdmacm.verbs.testing.NeedsFakeVerbs;
import io.rdmacm.verbs.testing.QueuePairValues;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.CompletionField;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.SendOperation;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.AddLifecycleHook;

/** Whatever is called in whatever order with whatever: only exceptions that are documented, and nothing is left. */
@AddLifecycleHook(NeedsFakeVerbs.class)
class CallsTest {
    private static final int CALLS = 300;
    private static final int EACH = 25;

    private final Surface surface;

    CallsTest() throws IOException {
        surface = Surface.of(ModuleClasses.exported(NativeObject.class));
    }

    /** Open objects of two devices, and closed ones. */
    private static final class World implements AutoCloseable {
        private final List<FakeStack> stacks = new ArrayList<>();
        private final List<Object> objects = new ArrayList<>();

        World() throws Exception {
            for (int i = 0; i < 3; i++) {
                FakeStack stack = new FakeStack();
                stacks.add(stack);
                long context = stack.context().handle().address();
                for (String equip : List.of("fake_equip_completion", "fake_equip_queue_pairs", "fake_equip_receive",
                        "fake_serve_memory", "fake_equip_work_queues", "fake_equip_flows")) {
                    FakeVerbs.call(equip, context);
                }
                objects.addAll(List.of(stack.context(), stack.domain(), stack.region(), stack.channel(),
                        stack.queue(), stack.queuePair()));
            }
            stacks.getLast().close();
            fill(stacks.getFirst());
        }

        private void fill(FakeStack stack) throws Exception {
            VerbsContext context = stack.context();
            ProtectionDomain domain = stack.domain();
            ExtendedCompletionQueue extended = context.createExtendedCompletionQueue(
                    CompletionQueueInitAttributes.builder(4).fields(CompletionField.values()).build());
            FakeVerbs.call("fake_fill", extended.handle().address(), 4);
            QueuePairInitAttributes batching = QueuePairInitAttributes.builder().completionQueue(stack.queue())
                    .maxInlineData(16).sendOperations(Set.of(SendOperation.values())).maxTsoHeader(8).build();
            QueuePair batched = domain.createQueuePair(batching);
            QueuePair datagrams = domain.createQueuePair(QueuePairInitAttributes.builder().type(QueuePairType.UD)
                    .completionQueue(stack.queue()).build());
            WorkQueue workQueue = domain.createWorkQueue(stack.queue(), 1, 1);
            SendRequests sends = SendRequests.allocate(4, 2);
            ReceiveRequests receives = ReceiveRequests.allocate(4, 2);
            TagOperations operations = TagOperations.allocate(4, 2);
            FakeVerbs.async(context.handle(), AsyncEventType.PORT_ACTIVE.value(), 1);
            objects.addAll(List.of(extended, batched, datagrams, workQueue, sends, sends.get(0), receives,
                    receives.get(1), operations, operations.get(2), batching, WorkCompletions.allocate(4),
                    context.createIndirectionTable(List.of(workQueue)), Counters.create(context),
                    FlowAction.createEsp(context, FlowActionTest.complete()), FlowActionTest.complete(),
                    Flow.create(datagrams, FlowAttributes.builder().build()), FlowAttributes.builder().build(),
                    datagrams.attachMulticast(new Gid(-1, 1), 0), new Gid(-1, 1), AddressAttributes.builder().build(),
                    domain.createAddressHandle(AddressAttributes.builder().build())));
            MemoryRegion bindable = domain.allocate(64, AccessFlag.MW_BIND);
            objects.addAll(List.of(context.allocateDeviceMemory(64, 0), context.allocateThreadDomain(),
                    context.openXrcDomain(), domain.allocateMemoryWindow(MemoryWindowType.TYPE_2), bindable,
                    MemoryWindowBinding.of(bindable, 0, 8), domain.registerAllMemory(),
                    domain.allocateParentDomain(ParentDomainAttributes.create()),
                    domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().build()),
                    context.pollAsyncEvent().orElseThrow(), QueuePairAttributes.toReset(),
                    QueuePairValues.ALL, batched.startBatch(), extended.startPoll()));
            RegisteredPool pool = RegisteredPool.builder(domain).sliceSize(64).firstSlab(2).maxSlab(4).build();
            objects.addAll(List.of(pool, pool.take(), RegisteredPool.builder(domain)));
        }

        @Override
        public void close() throws RdmaException {
            for (FakeStack stack : stacks) {
                stack.close();
            }
        }
    }

    @Property(tries = 20, shrinking = ShrinkingMode.OFF)
    void onlyDocumentedExceptionsComeOut(@ForAll long seed) throws Exception {
        long open = Lifetime.openObjects();
        var live = FakeVerbs.live();
        FakeVerbs.reset();
        FakeVerbs.recording(false);
        try (World world = new World(); Interrupter interrupter = new Interrupter()) {
            Fuzzer fuzzer = new Fuzzer(surface, new Random(seed), interrupter, world.objects);
            for (int i = 0; i < CALLS; i++) {
                fuzzer.call();
            }
            fuzzer.closeAll();
        }
        assertThat(Lifetime.openObjects()).describedAs("objects left open").isEqualTo(open);
        assertThat(FakeVerbs.live()).describedAs("objects of C left").isEqualTo(live);
    }

    /** Each method, not only those that chance chooses. */
    @Property(tries = 1, shrinking = ShrinkingMode.OFF)
    void everyMethodIsCalled(@ForAll long seed) throws Exception {
        FakeVerbs.reset();
        FakeVerbs.recording(false);
        List<Executable> never = new ArrayList<>(surface.calls());
        try (World world = new World(); Interrupter interrupter = new Interrupter()) {
            Fuzzer fuzzer = new Fuzzer(surface, new Random(seed), interrupter, world.objects);
            never.removeIf(call -> isCalled(fuzzer, call));
            // what they are called on may have come from a call after them
            never.removeIf(call -> isCalled(fuzzer, call));
            fuzzer.closeAll();
        }
        // the ones are made by calls that fail, another by programs, and the last by the drivers of EFA and mlx5
        assertThat(never).filteredOn(call -> !Exception.class.isAssignableFrom(call.getDeclaringClass())
                && call.getDeclaringClass() != ParentDomainAllocator.class
                && !call.getDeclaringClass().getPackage().equals(EfaQueuePair.class.getPackage())
                && !call.getDeclaringClass().getPackage().equals(Mlx5Device.class.getPackage())).isEmpty();
    }

    private static boolean isCalled(Fuzzer fuzzer, Executable call) {
        boolean called = false;
        for (int i = 0; i < EACH; i++) {
            called |= fuzzer.call(call);
        }
        return called;
    }
}
