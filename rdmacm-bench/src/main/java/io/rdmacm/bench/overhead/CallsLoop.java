// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

import io.rdmacm.bindings.ibv_context;
import io.rdmacm.bindings.ibv_context_ops;
import io.rdmacm.bindings.ibv_qp;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.verbs.SendRequests;

/**
 * The loop of {@link RotatingLoop} with the native calls alone: nothing is checked, locked or closed. There is a Java
 * object for each queue pair and region, as there must be in any library, but it has only what the call needs. What
 * this costs over C is the limit for what a library in Java can reach.
 */
final class CallsLoop implements Placement.Loop {
    // A few cache lines between two of them, as there are in any program: what lies there belongs to the same object.
    private static final int REST = 512;

    @SuppressWarnings("restricted")
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    // for the constants
    private static MemorySegment context;

    private final Pair[] pairs;
    private final Region[] regions;
    private final boolean data;
    private final long queue;
    private final SendRequests requests;
    private final MemorySegment results = Arena.ofAuto().allocate(Long.BYTES + ibv_wc.sizeof(), Long.BYTES);
    private int pair;
    private int region;
    private long id;

    private record Pair(long address, byte[] rest) {
    }

    private record Region(long start, int localKey, byte[] rest) {
    }

    /** The calls as constants; the null provider is in place when this class is initialized. */
    private static final class Calls {
        static final MethodHandle POST;
        static final MethodHandle POLL;

        static {
            MemorySegment ops = ibv_context.ops(context);
            POST = call(ibv_context_ops.post_send(ops), ValueLayout.JAVA_LONG);
            POLL = call(ibv_context_ops.poll_cq(ops), ValueLayout.JAVA_INT);
        }

        @SuppressWarnings("restricted")
        private static MethodHandle call(MemorySegment function, ValueLayout second) {
            return Linker.nativeLinker().downcallHandle(function, FunctionDescriptor.of(ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_LONG, second, ValueLayout.JAVA_LONG), Linker.Option.critical(false));
        }
    }

    /**
     * Creates a loop.
     *
     * @param stack the objects to use
     * @param pairCount how many of its queue pairs to use
     * @param regionCount how many of its memory regions to use
     * @param data whether to set the data anew for each request
     */
    @SuppressWarnings("restricted")
    CallsLoop(VerbsStack stack, int pairCount, int regionCount, boolean data) {
        this.pairs = new Pair[pairCount];
        for (int i = 0; i < pairCount; i++) {
            pairs[i] = new Pair(stack.pair(i).handle().address(), new byte[REST]);
        }
        this.regions = new Region[regionCount];
        for (int i = 0; i < regionCount; i++) {
            regions[i] = new Region(stack.region(i).remoteAddress(), stack.region(i).localKey(), new byte[REST]);
        }
        this.data = data;
        this.queue = stack.queue().handle().address();
        this.requests = stack.writes(1, Payload.ONE_ENTRY);
        context = ibv_qp.context(stack.pair(0).handle()).reinterpret(ibv_context.sizeof());
    }

    @Override
    public long run(int operations) {
        try {
            return loop(operations);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private long loop(int operations) throws Throwable {
        Pair[] to = pairs;
        Region[] from = regions;
        boolean sets = data;
        long polled = queue;
        long request = requests.memory().address();
        long entry = request + requests.memory().byteSize() - ibv_sge.sizeof();
        long refused = results.address();
        long completion = refused + Long.BYTES;
        int lastPair = to.length - 1;
        int lastRegion = from.length - 1;
        int nextPair = pair;
        int nextRegion = region;
        long next = id;
        long sum = 0;
        for (int done = 0; done < operations; done++) {
            if (sets) {
                nextRegion = nextRegion == lastRegion ? 0 : nextRegion + 1;
                Region set = from[nextRegion];
                ALL.set(ValueLayout.JAVA_LONG, entry + ibv_sge.addr$offset(), set.start);
                ALL.set(ValueLayout.JAVA_INT, entry + ibv_sge.length$offset(), Payload.ONE_ENTRY.entryLength());
                ALL.set(ValueLayout.JAVA_INT, entry + ibv_sge.lkey$offset(), set.localKey);
            }
            nextPair = nextPair == lastPair ? 0 : nextPair + 1;
            ALL.set(ValueLayout.JAVA_LONG, request + ibv_send_wr.wr_id$offset(), next++);
            if ((int) Calls.POST.invokeExact(to[nextPair].address, request, refused) != 0) {
                throw new IllegalStateException("ibv_post_send failed");
            }
            while ((int) Calls.POLL.invokeExact(polled, 1, completion) == 0) {
                Thread.onSpinWait();
            }
            if (ALL.get(ValueLayout.JAVA_INT, completion + ibv_wc.status$offset()) != 0) {
                throw new IllegalStateException("a request failed");
            }
            sum += ALL.get(ValueLayout.JAVA_LONG, completion + ibv_wc.wr_id$offset());
        }
        pair = nextPair;
        region = nextRegion;
        id = next;
        return sum;
    }
}
