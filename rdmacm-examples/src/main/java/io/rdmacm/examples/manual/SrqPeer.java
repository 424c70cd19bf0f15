// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import io.rdmacm.core.CmId;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.error.RdmaException;

/** One of the connections of the example, at either side. */
final class SrqPeer implements AutoCloseable {
    /** The id of a request that completes when the connection has ended. */
    static final long END = -1;

    private final CmId id;
    private final QueuePair pair;
    private final int index;
    private final SendRequest message = SendRequests.allocate(1, 1).get(0);
    private int received;

    private SrqPeer(CmId id, QueuePair pair, int index) {
        this.id = id;
        this.pair = pair;
        this.index = index;
    }

    /** Makes the queue pair of an id, which is the peer's from now on: it is closed too when that fails. */
    static SrqPeer create(CmId id, ProtectionDomain domain, QueuePairInitAttributes attributes, int index)
            throws RdmaException {
        try {
            return new SrqPeer(id, id.createQueuePair(domain, attributes), index);
        } catch (RdmaException e) {
            id.close();
            throw e;
        }
    }

    CmId id() {
        return id;
    }

    QueuePair pair() {
        return pair;
    }

    /** Which of the connections it is, from 0 on. */
    int index() {
        return index;
    }

    /** To be filled and posted by the thread that sends. */
    SendRequest message() {
        return message;
    }

    /** Counts a message, and tells how many came before it. */
    int countReceived() {
        return received++;
    }

    int received() {
        return received;
    }

    /**
     * Tells the thread that waits for completions that the connection has ended. The receives of a shared queue do not:
     * they belong to the other queue pairs too, and so are not flushed with this one. But a send on a queue pair in the
     * state ERROR is flushed at once.
     */
    void end() throws RdmaException {
        id.disconnect();
        pair.modifyToError();
        pair.postSend(SendRequests.allocate(1, 1).get(0).id(END));
    }

    @Override
    public void close() throws RdmaException {
        try {
            pair.close();
        } finally {
            id.close();
        }
    }
}
