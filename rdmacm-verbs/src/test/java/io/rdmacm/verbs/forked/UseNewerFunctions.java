// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.rdmacm.bindings.NativeLibrary;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.ParentDomainAttributes;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.counter.CompletionCounter;
import io.rdmacm.verbs.counter.CompletionCounterCapabilities;
import io.rdmacm.verbs.counter.CompletionCounterType;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.memory.DmaBuf;
import io.rdmacm.verbs.memory.DmaHandle;
import io.rdmacm.verbs.memory.DmaHandleAttributes;
import io.rdmacm.verbs.memory.ExtendedRegistration;
import io.rdmacm.verbs.memory.VerbsBuffer;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.work.SendOpcode;
import io.rdmacm.verbs.work.SendOperation;

/**
 * Calls each function that libibverbs got after rdma-core 44, with a library that has none of them, and writes a line
 * for each: its name, how it was called, and the refusal.
 */
public final class UseNewerFunctions {
    // Only with an object that the library cannot make: they are called directly.
    private static final Set<String> OF_OBJECTS = Set.of("ibv_dealloc_dmah", "ibv_free_buf", "ibv_reg_buf_mr",
            "ibv_export_buf_dmabuf_fd", "ibv_destroy_comp_cntr", "ibv_set_comp_cntr", "ibv_set_err_comp_cntr",
            "ibv_inc_comp_cntr", "ibv_inc_err_comp_cntr", "ibv_read_comp_cntr", "ibv_read_err_comp_cntr",
            "ibv_qp_attach_comp_cntr");

    private UseNewerFunctions() {
    }

    @FunctionalInterface
    private interface Call {
        Object call() throws RdmaException;
    }

    /** Takes no arguments. */
    public static void main(String[] arguments) throws RdmaException {
        try (VerbsContext context = Device.list().getFirst().open()) {
            FakeVerbs.call("fake_serve_memory", context.handle().address());
            try (ProtectionDomain domain = context.allocateProtectionDomain();
                    CompletionQueue queue = context.createCompletionQueue(4);
                    DeviceMemory memory = context.allocateDeviceMemory(64, 0); Arena arena = Arena.ofConfined()) {
                MemorySegment bytes = arena.allocate(64);
                Map<String, Call> calls = new TreeMap<>(Map.of(
                        "ibv_wr_opcode_str", SendOpcode.FLUSH::text,
                        "ibv_alloc_dmah", () -> DmaHandle.allocate(context, DmaHandleAttributes.defaults()),
                        "ibv_reg_mr_ex", () -> ExtendedRegistration.of(bytes).register(domain),
                        "ibv_query_port_speed", () -> context.queryPortSpeed(1),
                        "ibv_dm_export_dmabuf_fd", () -> DmaBuf.export(memory),
                        "ibv_alloc_buf", () -> VerbsBuffer.allocate(domain, 64),
                        "_ibv_query_comp_cntr_caps", () -> CompletionCounterCapabilities.query(context),
                        "ibv_create_comp_cntr", () -> CompletionCounter.create(context, CompletionCounterType.WRS)));
                OF_OBJECTS.forEach(name -> calls.put(name, () -> NativeFunction.of(name).callLong(0, 0, 0)));
                Set<String> forgotten = newer();
                forgotten.removeAll(calls.keySet());
                System.out.println("forgotten: " + forgotten);
                // inline, or a flag of another function
                calls.put("ibv_wr_flush", () -> domain.createQueuePair(QueuePairInitAttributes.builder()
                        .completionQueue(queue).sendOperations(List.of(SendOperation.FLUSH)).build()));
                FakeVerbs.reset();
                calls.forEach(UseNewerFunctions::refused);
                refused("unprotected", () -> domain.allocateParentDomain(
                        ParentDomainAttributes.create().allowUnprotected(true)));
                System.out.println("native calls: " + FakeVerbs.functions());
                askForOrder(domain, queue);
            }
        }
        System.out.println("left behind: " + FakeVerbs.live().values().stream().mapToInt(Integer::intValue).sum());
    }

    /** The flags of this function came later than the function: an older library must not get them. */
    private static void askForOrder(ProtectionDomain domain, CompletionQueue queue) throws RdmaException {
        try (QueuePair pair = domain.createQueuePair(QueuePairInitAttributes.builder().completionQueue(queue)
                .build())) {
            FakeVerbs.result(1);
            System.out.println("order: " + pair.queryDataInOrder(SendOpcode.SEND, false) + ", of the device: "
                    + pair.queryDataInOrder(SendOpcode.SEND, true) + ", flags: "
                    + FakeVerbs.calls("ibv_query_qp_data_in_order").stream().map(call -> call.arguments().get(2))
                            .toList());
        }
    }

    private static void refused(String name, Call call) {
        try {
            System.out.println(name + " returned " + call.call());
        } catch (NativeLibraryException e) {
            System.out.println(name + " -> " + e.function() + ": " + e.getMessage());
        } catch (RdmaException | RuntimeException e) {
            System.out.println(name + " threw " + e);
        }
    }

    /** The functions of libibverbs that the bindings know to be newer than rdma-core 44. */
    private static Set<String> newer() {
        return Stream.of(Rdma.class.getMethods()).map(method -> method.getName())
                .filter(name -> NativeLibrary.since(name).isPresent() && NativeLibrary.of(name)
                        == NativeLibrary.LIBIBVERBS)
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
