// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_context;
import io.rdmacm.bindings.ibv_context_ops;
import io.rdmacm.bindings.ibv_qp;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.bindings.ibv_wc;

/** Posts and polls through the generated bindings in the naive way: plain handles, and segments of a shared arena. */
final class BindingsLoop implements Placement.Loop, AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment pair;
    private final MemorySegment queue;
    private final MemorySegment postSend;
    private final MemorySegment pollCq;
    private final int batch;
    private final MemorySegment requests;
    private final MemorySegment refused;
    private final MemorySegment completions;
    private long id;

    @SuppressWarnings("restricted")
    BindingsLoop(VerbsStack stack, int batch, Payload payload) {
        this.pair = stack.pair(0).handle();
        this.queue = stack.queue().handle();
        MemorySegment context = ibv_qp.context(pair).reinterpret(ibv_context.sizeof());
        this.postSend = ibv_context_ops.post_send(ibv_context.ops(context));
        this.pollCq = ibv_context_ops.poll_cq(ibv_context.ops(context));
        this.batch = batch;
        this.requests = ibv_send_wr.allocateArray(batch, arena);
        this.refused = arena.allocate(Rdma.C_POINTER);
        this.completions = ibv_wc.allocateArray(batch, arena);
        for (int i = 0; i < batch; i++) {
            fill(stack, payload, i);
        }
    }

    private void fill(VerbsStack stack, Payload payload, int index) {
        MemorySegment request = ibv_send_wr.asSlice(requests, index);
        MemorySegment list = ibv_sge.allocateArray(payload.entries(), arena);
        for (int entry = 0; entry < payload.entries(); entry++) {
            MemorySegment sge = ibv_sge.asSlice(list, entry);
            ibv_sge.addr(sge, stack.region(0).remoteAddress() + (long) entry * payload.entryLength());
            ibv_sge.length(sge, payload.entryLength());
            ibv_sge.lkey(sge, stack.region(0).localKey());
        }
        ibv_send_wr.next(request, index + 1 < batch ? ibv_send_wr.asSlice(requests, index + 1) : MemorySegment.NULL);
        ibv_send_wr.sg_list(request, list);
        ibv_send_wr.num_sge(request, payload.entries());
        ibv_send_wr.opcode(request, Rdma.IBV_WR_RDMA_WRITE());
        ibv_send_wr.send_flags(request, Rdma.IBV_SEND_SIGNALED() | (payload.inline() ? Rdma.IBV_SEND_INLINE() : 0));
        MemorySegment rdma = ibv_send_wr.wr.rdma(ibv_send_wr.wr(request));
        ibv_send_wr.wr.rdma.remote_addr(rdma, VerbsStack.REMOTE_ADDRESS);
        ibv_send_wr.wr.rdma.rkey(rdma, VerbsStack.REMOTE_KEY);
    }

    @Override
    public long run(int operations) {
        long sum = 0;
        for (int done = 0; done < operations; done += batch) {
            for (int i = 0; i < batch; i++) {
                ibv_send_wr.wr_id(ibv_send_wr.asSlice(requests, i), id++);
            }
            if (ibv_context_ops.post_send.invoke(postSend, pair, requests, refused) != 0) {
                throw new IllegalStateException("ibv_post_send failed");
            }
            sum += poll();
        }
        return sum;
    }

    private long poll() {
        long sum = 0;
        for (int wanted = batch; wanted > 0;) {
            int taken = ibv_context_ops.poll_cq.invoke(pollCq, queue, batch, completions);
            for (int i = 0; i < taken; i++) {
                MemorySegment completion = ibv_wc.asSlice(completions, i);
                if (ibv_wc.status(completion) != 0) {
                    throw new IllegalStateException("a request failed");
                }
                sum += ibv_wc.wr_id(completion);
            }
            wanted -= taken;
        }
        return sum;
    }

    @Override
    public void close() {
        arena.close();
    }
}
