// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.verbs.SendRequests;

/** Posts and polls as JNI libraries do: requests in a direct buffer, completions copied into objects. */
final class JniLoop implements Placement.Loop {
    private final long pair;
    private final long queue;
    private final int batch;
    // keeps the memory of the requests alive, which are filled in once
    private final SendRequests block;
    private final ByteBuffer buffer;
    private final long requests;
    private final JniVerbs.Completion[] completions;
    private long id;

    JniLoop(VerbsStack stack, int batch, Payload payload) {
        this.pair = stack.pair(0).handle().address();
        this.queue = stack.queue().handle().address();
        this.batch = batch;
        this.block = stack.writes(batch, payload);
        MemorySegment memory = block.memory();
        this.buffer = memory.asByteBuffer().order(ByteOrder.nativeOrder());
        this.requests = memory.address();
        for (int i = 0; i + 1 < batch; i++) {
            buffer.putLong(at(i) + (int) ibv_send_wr.next$offset(), requests + at(i + 1));
        }
        this.completions = new JniVerbs.Completion[batch];
        for (int i = 0; i < batch; i++) {
            completions[i] = new JniVerbs.Completion();
        }
    }

    private static int at(int index) {
        return index * (int) ibv_send_wr.sizeof();
    }

    @Override
    public long run(int operations) {
        long sum = 0;
        for (int done = 0; done < operations; done += batch) {
            for (int i = 0; i < batch; i++) {
                buffer.putLong(at(i) + (int) ibv_send_wr.wr_id$offset(), id++);
            }
            if (JniVerbs.postSend(pair, requests) != 0) {
                throw new IllegalStateException("ibv_post_send failed");
            }
            sum += poll();
        }
        return sum;
    }

    private long poll() {
        long sum = 0;
        for (int wanted = batch; wanted > 0;) {
            int taken = JniVerbs.pollCq(queue, completions);
            for (int i = 0; i < taken; i++) {
                JniVerbs.Completion completion = completions[i];
                if (completion.status != 0) {
                    throw new IllegalStateException("a request failed");
                }
                sum += completion.id;
            }
            wanted -= taken;
        }
        return sum;
    }
}
