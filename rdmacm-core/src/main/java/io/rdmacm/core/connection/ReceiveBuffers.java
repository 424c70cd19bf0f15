// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.util.ArrayDeque;
import java.util.ArrayList;

import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.pool.RegisteredSlice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The buffers of a receive queue, that of one connection or one that the connections of a loop share. Keeps a number of
 * receives posted. The work request id of a receive is the complement of the index of its buffer, which is negative and
 * so differs from that of a send. Used with the lock of the loop held.
 */
final class ReceiveBuffers implements ReceiveBuffer.Owner {
    private static final Logger LOG = LoggerFactory.getLogger(ReceiveBuffers.class);
    // how many times as many buffers as are posted there can be while messages occupy them
    private static final int MOST_GROWTH = 16;

    private final DeviceResources device;
    private final int messageSize;
    private final int target;
    private final boolean growing;
    private final Poster queue;
    private final ArrayList<ReceiveBuffer> buffers = new ArrayList<>();
    private final ArrayDeque<ReceiveBuffer> spares = new ArrayDeque<>();
    private int posted;
    private int held;
    private long exhausted;
    private boolean closed;

    /**
     * Creates the buffers and posts them.
     *
     * @param device where the memory comes from
     * @param messageSize the size of a buffer in bytes
     * @param target how many receives to keep posted
     * @param growing whether to take more memory while messages occupy the buffers, for a shared queue: one connection
     *        must not hold up the others. Without it, the peer has to wait.
     * @param queue the receive queue
     */
    ReceiveBuffers(DeviceResources device, int messageSize, int target, boolean growing, Poster queue)
            throws RdmaException {
        this.device = device;
        this.messageSize = messageSize;
        this.target = target;
        this.growing = growing;
        this.queue = queue;
        try {
            grow();
        } catch (Throwable t) {
            close();
            throw t;
        }
    }

    /** A receive queue. */
    @FunctionalInterface
    interface Poster {
        void post(ReceiveRequests requests, int first, int count) throws RdmaException;
    }

    /** Takes the buffer of a completion. It is held until it is given back. */
    ReceiveBuffer take(long workRequestId) {
        ReceiveBuffer buffer = buffers.get((int) ~workRequestId);
        buffer.held(true);
        held++;
        posted--;
        if (posted == 0) {
            exhausted++;
        }
        if (growing && posted <= target / 2) {
            replenish();
        }
        return buffer;
    }

    /** Posts a buffer again that was held. */
    @Override
    public void giveBack(ReceiveBuffer buffer) throws RdmaException {
        buffer.held(false);
        held--;
        if (closed) {
            device.reclaim(buffer.slice());
        } else {
            spares.push(buffer);
            postSpares();
        }
    }

    /** Takes a buffer back whose receive has failed. A shared queue can still use it. */
    void failed(ReceiveBuffer buffer) {
        buffer.held(false);
        held--;
        if (growing) {
            spares.push(buffer);
        }
    }

    /** Returns the size in bytes of the largest message. */
    int messageSize() {
        return messageSize;
    }

    /** Returns how many buffers there are. */
    int count() {
        return buffers.size();
    }

    /** Returns how many buffers hold a message that was not closed. */
    int held() {
        return held;
    }

    /** Returns how often the last posted receive was used, so that peers may have had to send again. */
    long exhausted() {
        return exhausted;
    }

    /** Frees the memory, after the queue was destroyed. What is held keeps its memory until it is given back. */
    void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (ReceiveBuffer buffer : buffers) {
            if (buffer.isHeld()) {
                device.lend(buffer.slice());
            } else {
                buffer.slice().close();
            }
        }
    }

    /** Posts spare buffers as far as they are missing. One that cannot be posted stays a spare. */
    private void postSpares() throws RdmaException {
        while (posted < target && !spares.isEmpty()) {
            ReceiveBuffer buffer = spares.element();
            queue.post(buffer.requests(), buffer.index(), 1);
            spares.remove();
            posted++;
        }
    }

    private void replenish() {
        try {
            postSpares();
            if (posted <= target / 2 && buffers.size() < (long) MOST_GROWTH * target) {
                grow();
            }
        } catch (RdmaException | IllegalStateException | OutOfMemoryError e) {
            // Peers have to wait until messages are closed.
            LOG.debug("a shared receive queue has only {} receives posted", posted, e);
        }
    }

    /** Posts as many new buffers as are missing. Those that cannot be posted are spares. */
    private void grow() throws RdmaException {
        int first = buffers.size();
        int missing = target - posted;
        ReceiveRequests requests = ReceiveRequests.allocate(missing, 1);
        buffers.ensureCapacity(first + missing);
        int unposted = first;
        try {
            for (int i = 0; i < missing; i++) {
                buffers.add(create(requests, i));
            }
            queue.post(requests, 0, missing);
            unposted = buffers.size();
        } catch (WorkRequestException e) {
            unposted += e.failedIndex();
            throw e;
        } finally {
            posted += unposted - first;
            spares.addAll(buffers.subList(unposted, buffers.size()));
        }
    }

    /** Takes memory for a buffer, which is the next one. */
    private ReceiveBuffer create(ReceiveRequests requests, int index) throws RdmaException {
        RegisteredSlice slice = device.pool(messageSize).take();
        try {
            requests.get(index).id(~(long) buffers.size()).data(slice.region(), slice.offset(), messageSize);
            return new ReceiveBuffer(this, slice, requests, index);
        } catch (Throwable t) {
            slice.close();
            throw t;
        }
    }
}
