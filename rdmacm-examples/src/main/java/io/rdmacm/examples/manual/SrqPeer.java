// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import io.rdmacm.core.CmId;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.error.RdmaException;

/** One connection of the example, in either role. */
final class SrqPeer implements AutoCloseable {
    /** The id of the request that completes when the connection has ended. */
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

    /** Creates the queue pair of an id. The id is closed with the peer, or at once if this fails. */
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

    /** Returns the index of the connection, from 0 on. */
    int index() {
        return index;
    }

    /** Returns the request that the sending thread fills in and posts. */
    SendRequest message() {
        return message;
    }

    /** Counts a message, and returns how many arrived before it. */
    int countReceived() {
        return received++;
    }

    int received() {
        return received;
    }

    /**
     * Tells the thread that waits for completions that the connection has ended. The receives of a shared queue cannot
     * do that: they belong to the other queue pairs too, and so are not flushed with this one. But a send to a queue
     * pair in the ERROR state is flushed at once.
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
