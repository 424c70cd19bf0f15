// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.rdmacm.bindings.ibv_mr;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.counter.CompletionCounter;
import io.rdmacm.verbs.counter.CompletionCounterType;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.efa.EfaQueuePair;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.flow.Counters;
import io.rdmacm.verbs.flow.EspAttributes;
import io.rdmacm.verbs.flow.Flow;
import io.rdmacm.verbs.flow.FlowAction;
import io.rdmacm.verbs.flow.FlowActionTest;
import io.rdmacm.verbs.flow.FlowAttributes;
import io.rdmacm.verbs.memory.DmaHandle;
import io.rdmacm.verbs.memory.DmaHandleAttributes;
import io.rdmacm.verbs.memory.VerbsBuffer;
import io.rdmacm.verbs.mlx5.Mlx5Device;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RateLimit;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.ModuleClasses;
import io.rdmacm.verbs.testing.UseAfterClose;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.testing.careless.CarelessObject;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every public method of every native object of the module refuses use after close. */
@WithFakeVerbs
class UseAfterCloseTest {
    @TestFactory
    Stream<DynamicTest> everyMethodIsRefused() throws IOException {
        FakeStack stack = new FakeStack();
        FakeVerbs.call("fake_equip_receive", stack.context().handle().address());
        SharedReceiveQueueInitAttributes sharedAttributes = SharedReceiveQueueInitAttributes.builder().build();
        SharedReceiveQueue shared = stack.domain().createSharedReceiveQueue(sharedAttributes);
        shared.close();
        XrcDomain xrcDomain = stack.context().openXrcDomain();
        xrcDomain.close();
        FakeVerbs.async(stack.context().handle(), AsyncEventType.PORT_ACTIVE.value(), 1);
        AsyncEvent event = stack.context().pollAsyncEvent().orElseThrow();
        event.close();
        AddressHandle address = stack.domain().createAddressHandle(AddressAttributes.builder().build());
        address.close();
        MulticastAttachment attachment;
        try (QueuePair datagrams = stack.domain().createQueuePair(QueuePairInitAttributes.builder()
                .type(QueuePairType.UD).completionQueue(stack.queue()).build())) {
            attachment = datagrams.attachMulticast(new Gid(-1, 1), 0);
            attachment.close();
        }
        FakeVerbs.call("fake_equip_completion", stack.context().handle().address());
        ExtendedCompletionQueue extended = stack.context().createExtendedCompletionQueue(
                CompletionQueueInitAttributes.builder(1).build());
        extended.close();
        FakeVerbs.call("fake_serve_memory", stack.context().handle().address());
        ThreadDomain threadDomain = stack.context().allocateThreadDomain();
        threadDomain.close();
        ParentDomain parentDomain = stack.domain().allocateParentDomain(ParentDomainAttributes.create());
        parentDomain.close();
        DeviceMemory deviceMemory = stack.context().allocateDeviceMemory(8, 0);
        deviceMemory.close();
        MemoryWindow window = stack.domain().allocateMemoryWindow(MemoryWindowType.TYPE_1);
        window.close();
        MemoryWindowBinding binding;
        try (MemoryRegion bindable = stack.domain().allocate(8, AccessFlag.MW_BIND)) {
            binding = MemoryWindowBinding.of(bindable, 0, 8);
        }
        ImplicitMemoryRegion implicit = stack.domain().registerAllMemory();
        implicit.close();
        FakeVerbs.call("fake_equip_work_queues", stack.context().handle().address());
        WorkQueue workQueue = stack.domain().createWorkQueue(stack.queue(), 1, 1);
        IndirectionTable table = stack.context().createIndirectionTable(List.of(workQueue));
        table.close();
        workQueue.close();
        Counters counters = Counters.create(stack.context());
        counters.close();
        FakeVerbs.call("fake_equip_flows", stack.context().handle().address());
        FlowAction action = FlowAction.createEsp(stack.context(), FlowActionTest.complete());
        action.close();
        FlowAttributes rule = FlowAttributes.builder().build();
        Flow flow;
        try (QueuePair datagrams = stack.domain().createQueuePair(QueuePairInitAttributes.builder()
                .type(QueuePairType.UD).completionQueue(stack.queue()).build())) {
            flow = Flow.create(datagrams, rule);
            flow.close();
        }
        CompletionCounter counter = CompletionCounter.create(stack.context(), CompletionCounterType.WRS);
        counter.close();
        DmaHandle dmaHandle = DmaHandle.allocate(stack.context(), DmaHandleAttributes.defaults());
        dmaHandle.close();
        VerbsBuffer buffer = VerbsBuffer.allocate(stack.domain(), 8);
        buffer.close();
        stack.close();
        // those of drivers have tests of their own
        return UseAfterClose.of(ModuleClasses.exported(NativeObject.class).stream()
                .filter(type -> !type.getPackage().equals(EfaQueuePair.class.getPackage()))
                .filter(type -> !type.getPackage().equals(Mlx5Device.class.getPackage())).toList())
                .closed(stack.context()).closed(stack.domain()).closed(stack.region()).closed(stack.channel())
                .closed(stack.queue()).closed(stack.queuePair()).closed(event)
                .closed(address).closed(attachment).closed(extended)
                .closed(workQueue).closed(table).closed(counters).closed(flow).closed(action)
                .argument(Flow.class, flow).argument(FlowAttributes.class, rule)
                .argument(EspAttributes.class, FlowActionTest.complete())
                .argument(CompletionQueue.class, stack.queue())
                .argument(List.class, List.of(workQueue)).argument(Set.class, Set.of())
                .argument(CompletionQueueInitAttributes.class, CompletionQueueInitAttributes.builder(1).build())
                .closed(threadDomain).closed(parentDomain).closed(deviceMemory).closed(window)
                .closed(implicit).closed(counter).closed(dmaHandle).closed(buffer)
                .argument(MemoryWindowBinding.class, binding).argument(QueuePair.class, stack.queuePair())
                .argument(ParentDomainAttributes.class, ParentDomainAttributes.create())
                .argument(DeviceMemory.class, deviceMemory)
                .argument(Reregistration.class, Reregistration.builder().access().build())
                .argument(AddressAttributes.class, AddressAttributes.builder().build())
                .argument(Gid.class, new Gid(-1, 1))
                .argument(CompletionChannel.class, stack.channel())
                .argument(QueuePairInitAttributes.class,
                        QueuePairInitAttributes.builder().completionQueue(stack.queue()).build())
                .closed(shared).closed(xrcDomain)
                .argument(SharedReceiveQueueInitAttributes.class, sharedAttributes)
                .argument(RateLimit.class, new RateLimit(0, 0, 0)).argument(Ece.class, new Ece(1, 1))
                .argument(QueuePairAttributes.class, QueuePairAttributes.toError())
                .argument(TagOperations.class, TagOperations.allocate(2, 1))
                .argument(Path.class, Path.of("none"))
                .argument(MemorySegment.class, Arena.ofAuto().allocate(8))
                .argument(WorkCompletions.class, WorkCompletions.allocate(1))
                .argument(SendRequest.class, SendRequests.allocate(1, 1).get(0))
                .argument(SendRequests.class, SendRequests.allocate(2, 1))
                .argument(ReceiveRequest.class, ReceiveRequests.allocate(1, 1).get(0))
                .argument(ReceiveRequests.class, ReceiveRequests.allocate(2, 1))
                .tests();
    }

    @Test
    void theCObjectOfAClosedObjectCannotBeRead() throws RdmaException {
        try (FakeStack open = new FakeStack()) {
            MemoryRegion region = open.domain().allocate(8);
            MemorySegment handle = region.handle();
            assertThat(ibv_mr.lkey(handle)).isEqualTo(region.localKey());
            region.close();
            assertThatIllegalStateException().isThrownBy(() -> ibv_mr.lkey(handle));
        }
    }

    @Test
    void aMethodThatIsNotRefusedFailsTheTest() throws IOException {
        List<DynamicTest> tests = UseAfterClose.of(ModuleClasses.inPackageOf(CarelessObject.class))
                .closed(CarelessObject.closed()).tests().toList();

        assertThat(tests).extracting(DynamicTest::getDisplayName)
                .containsExactlyInAnyOrder("CarelessObject.careful()", "CarelessObject.careless()",
                        "CarelessObject.handle()", "CarelessObject.needs(StringBuilder)");
        for (DynamicTest test : tests) {
            switch (test.getDisplayName()) {
                case "CarelessObject.careless()" -> assertThatThrownBy(() -> test.getExecutable().execute())
                        .isInstanceOf(AssertionError.class).hasMessageContaining("was allowed after close()");
                case "CarelessObject.needs(StringBuilder)" -> assertThatThrownBy(() -> test.getExecutable().execute())
                        .isInstanceOf(AssertionError.class).hasMessageContaining("has no argument for");
                default -> assertThat(test.getExecutable()).satisfies(executable -> executable.execute());
            }
        }
    }

    @Test
    void aClassThatTheTestWasNotToldOfFailsIt() throws IOException {
        List<DynamicTest> tests = UseAfterClose.of(ModuleClasses.inPackageOf(CarelessObject.class)).tests().toList();

        assertThat(tests).singleElement().satisfies(test -> assertThatThrownBy(() -> test.getExecutable().execute())
                .isInstanceOf(AssertionError.class).hasMessageContaining("no closed object of class"));
    }
}
