// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedList;
import java.util.List;
import java.util.function.IntToLongFunction;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.impl.NatIbvCQ;
import com.ibm.disni.verbs.impl.NatIbvQP;

/**
 * Posts and polls as fast programs over DiSNI do: one stateful call for the post and one for the poll, created once and
 * executed again and again, with the id of each request set in place. Only the objects of DiSNI that stand for queue
 * pair and completion queue are created from addresses, as DiSNI gets both from a connection, which needs a device.
 *
 * <p>A resource, compiled by {@code Disni} when the benchmark runs.
 */
public final class DisniLoop implements IntToLongFunction {
    private final int batch;
    private final SVCPostSend post;
    private final SVCPostSend.SendWRMod[] requests;
    private final IbvWC[] completions;
    private final SVCPollCq poll;
    private long id;

    /** Creates the calls. */
    public DisniLoop(VerbsStack stack, int batch, Payload payload) throws IOException {
        this.batch = batch;
        LinkedList<IbvSendWR> writes = new LinkedList<>();
        for (int i = 0; i < batch; i++) {
            writes.add(write(stack, payload));
        }
        post = new NatIbvQP(stack.pair(0).handle().address(), null).postSend(writes, null);
        requests = new SVCPostSend.SendWRMod[batch];
        completions = new IbvWC[batch];
        for (int i = 0; i < batch; i++) {
            requests[i] = post.getWrMod(i);
            completions[i] = new IbvWC();
        }
        poll = new NatIbvCQ(stack.queue().handle().address(), null, null, 0).poll(completions, batch);
    }

    private static IbvSendWR write(VerbsStack stack, Payload payload) {
        LinkedList<IbvSge> entries = new LinkedList<>();
        for (int i = 0; i < payload.entries(); i++) {
            IbvSge entry = new IbvSge();
            entry.setAddr(stack.region(0).remoteAddress() + (long) i * payload.entryLength());
            entry.setLength(payload.entryLength());
            entry.setLkey(stack.region(0).localKey());
            entries.add(entry);
        }
        IbvSendWR write = new IbvSendWR();
        write.setSg_list(entries);
        write.setOpcode(IbvSendWR.IBV_WR_RDMA_WRITE);
        write.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED | (payload.inline() ? IbvSendWR.IBV_SEND_INLINE : 0));
        write.getRdma().setRemote_addr(VerbsStack.REMOTE_ADDRESS);
        write.getRdma().setRkey(VerbsStack.REMOTE_KEY);
        return write;
    }

    @Override
    public long applyAsLong(int operations) {
        try {
            return run(operations);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // Local copies of the fields, as in the loop over this library.
    private long run(int operations) throws IOException {
        SVCPostSend call = post;
        SVCPostSend.SendWRMod[] posted = requests;
        int count = batch;
        long next = id;
        long sum = 0;
        for (int done = 0; done < operations; done += count) {
            for (int i = 0; i < count; i++) {
                posted[i].setWr_id(next++);
            }
            call.execute();
            sum += poll(count);
        }
        id = next;
        return sum;
    }

    private long poll(int count) throws IOException {
        SVCPollCq call = poll;
        IbvWC[] taken = completions;
        long sum = 0;
        for (int wanted = count; wanted > 0;) {
            int polled = call.execute().getPolls();
            for (int i = 0; i < polled; i++) {
                if (taken[i].getStatus() != IbvWC.IbvWcStatus.IBV_WC_SUCCESS.ordinal()) {
                    throw new IOException("a request failed");
                }
                sum += taken[i].getWr_id();
            }
            wanted -= polled;
        }
        return sum;
    }
}
