// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_cq_ex;
import io.rdmacm.bindings.ibv_poll_cq_attr;
import io.rdmacm.bindings.ibv_qp_ex;

/**
 * The loop of {@link InPlaceLoop} with the native calls alone, as {@link CallsLoop} is for posts: what Java can
 * reach at best with a call for each step.
 */
final class CallsInPlaceLoop implements Placement.Loop {
    @SuppressWarnings("restricted")
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    // for the constants
    private static MemorySegment pairStruct;
    private static MemorySegment queueStruct;

    private final int batch;
    private final int length;
    private final long pair;
    private final long queue;
    private final long region;
    private final int localKey;
    private final MemorySegment attributes = Arena.ofAuto().allocate(ibv_poll_cq_attr.layout());
    private long id;

    /** The calls as constants; the queues are in place when this class is initialized. */
    private static final class Calls {
        static final MethodHandle START = call(ibv_qp_ex.wr_start(pairStruct), null);
        static final MethodHandle WRITE = call(ibv_qp_ex.wr_rdma_write(pairStruct), null, ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG);
        static final MethodHandle SET_SGE = call(ibv_qp_ex.wr_set_sge(pairStruct), null, ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT);
        static final MethodHandle COMPLETE = call(ibv_qp_ex.wr_complete(pairStruct), ValueLayout.JAVA_INT);
        static final MethodHandle START_POLL = call(ibv_cq_ex.start_poll(queueStruct), ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG);
        static final MethodHandle NEXT_POLL = call(ibv_cq_ex.next_poll(queueStruct), ValueLayout.JAVA_INT);
        static final MethodHandle END_POLL = call(ibv_cq_ex.end_poll(queueStruct), null);

        @SuppressWarnings("restricted")
        private static MethodHandle call(MemorySegment function, MemoryLayout result, MemoryLayout... more) {
            MemoryLayout[] arguments = new MemoryLayout[more.length + 1];
            Arrays.fill(arguments, ValueLayout.JAVA_LONG);
            System.arraycopy(more, 0, arguments, 1, more.length);
            return Linker.nativeLinker().downcallHandle(function, result == null
                    ? FunctionDescriptor.ofVoid(arguments) : FunctionDescriptor.of(result, arguments),
                    Linker.Option.critical(false));
        }
    }

    @SuppressWarnings("restricted")
    CallsInPlaceLoop(VerbsStack stack, int batch, int length) {
        this.batch = batch;
        this.length = length;
        // The extended structs begin with the plain ones, and the null provider makes no other.
        this.pair = stack.pair(0).handle().address();
        this.queue = stack.queue().handle().address();
        this.region = stack.region(0).remoteAddress();
        this.localKey = stack.region(0).localKey();
        pairStruct = MemorySegment.ofAddress(pair).reinterpret(ibv_qp_ex.sizeof());
        queueStruct = MemorySegment.ofAddress(queue).reinterpret(ibv_cq_ex.sizeof());
    }

    @Override
    public long run(int operations) {
        try {
            long sum = 0;
            for (int done = 0; done < operations; done += batch) {
                post();
                sum += poll();
            }
            return sum;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private void post() throws Throwable {
        long to = pair;
        long from = region;
        int count = batch;
        int bytes = length;
        int key = localKey;
        long next = id;
        Calls.START.invokeExact(to);
        for (int i = 0; i < count; i++) {
            ALL.set(ValueLayout.JAVA_LONG, to + ibv_qp_ex.wr_id$offset(), next++);
            ALL.set(ValueLayout.JAVA_INT, to + ibv_qp_ex.wr_flags$offset(), Rdma.IBV_SEND_SIGNALED());
            Calls.WRITE.invokeExact(to, VerbsStack.REMOTE_KEY, VerbsStack.REMOTE_ADDRESS);
            Calls.SET_SGE.invokeExact(to, key, from, bytes);
        }
        id = next;
        if ((int) Calls.COMPLETE.invokeExact(to) != 0) {
            throw new IllegalStateException("ibv_wr_complete failed");
        }
    }

    private long poll() throws Throwable {
        long from = queue;
        long given = attributes.address();
        long sum = 0;
        for (int wanted = batch; wanted > 0;) {
            if ((int) Calls.START_POLL.invokeExact(from, given) != 0) {
                continue;
            }
            do {
                if (ALL.get(ValueLayout.JAVA_INT, from + ibv_cq_ex.status$offset()) != 0) {
                    throw new IllegalStateException("a request failed");
                }
                sum += ALL.get(ValueLayout.JAVA_LONG, from + ibv_cq_ex.wr_id$offset());
                wanted--;
            } while ((int) Calls.NEXT_POLL.invokeExact(from) == 0);
            Calls.END_POLL.invokeExact(from);
        }
        return sum;
    }
}
