// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.pool.RegisteredSlice;

/**
 * Posts messages: as the immediate value of a write or, to a device without those, as a send of 4 bytes in the byte
 * order of the machine, after the write. One thread at a time uses it.
 */
final class MessageSender {
    /** The length of a message that is sent. */
    static final int LENGTH = Integer.BYTES;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    private final QueuePair pair;
    private final SendRequests requests;
    private final SendRequest write;
    private final boolean sends;
    private final MemorySegment memory;
    private final int offset;

    /**
     * Creates a sender.
     *
     * @param sends whether messages are sent, because the device has no immediate values
     * @param slice where messages are kept until they are posted
     * @param offset of the place in the slice
     */
    MessageSender(QueuePair pair, boolean sends, int maxScatterGather, RegisteredSlice slice, int offset) {
        this.pair = pair;
        this.sends = sends;
        this.requests = SendRequests.allocate(sends ? 2 : 1, maxScatterGather);
        this.write = requests.get(0);
        this.memory = slice.memory();
        this.offset = offset;
        if (sends) {
            requests.get(1).send().inline(true).data(slice.region(), slice.offset() + offset, LENGTH);
        }
    }

    /** Returns the write, for its data. */
    SendRequest write() {
        return write;
    }

    /** Writes the data to the peer, with a message. */
    void post(long id, boolean signal, long address, int key, int message) throws RdmaException {
        if (sends) {
            write.id(id).signaled(false).rdmaWrite(address, key);
            prepare(id, signal, message);
            pair.postSend(requests, 0, 2);
        } else {
            pair.postSend(write.id(id).signaled(signal).rdmaWriteWithImmediate(address, key, message));
        }
    }

    /** Sends a message without data. */
    void post(long id, int message) throws RdmaException {
        if (sends) {
            prepare(id, true, message);
            pair.postSend(requests, 1, 1);
        } else {
            pair.postSend(write.noData().inline(false).id(id).signaled(true).rdmaWriteWithImmediate(0, 0, message));
        }
    }

    /** Writes the data to the peer, who is not told. */
    void postWithoutImmediate(long id, boolean signal, long address, int key) throws RdmaException {
        pair.postSend(write.id(id).signaled(signal).rdmaWrite(address, key));
    }

    private void prepare(long id, boolean signal, int message) {
        memory.set(INT, offset, message);
        requests.get(1).id(id).signaled(signal);
    }
}
