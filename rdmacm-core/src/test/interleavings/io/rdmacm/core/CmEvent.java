// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Optional;

import io.rdmacm.verbs.error.RdmaException;

/** Stands in for the class of this name, in plain Java. */
public final class CmEvent implements AutoCloseable {
    private final CmEventType type;
    private final CmId id;
    private final CmId listener;
    private boolean taken;

    CmEvent(CmEventType type, CmId id, CmId listener) {
        this.type = type;
        this.id = id;
        this.listener = listener;
    }

    /** Returns the type. */
    public CmEventType type() {
        return type;
    }

    /** Returns the id; that of a request belongs to the caller from now on. */
    public CmId id() {
        taken = true;
        return id;
    }

    /** Returns the listening id of a request. */
    public Optional<CmId> listener() {
        return Optional.ofNullable(listener);
    }

    /** Returns an exception for the event. */
    public RdmaException failure(String what) {
        return new RdmaException("rdma_get_cm_event", what + ": " + type);
    }

    boolean concerns(CmId other) {
        return other == id || other == listener;
    }

    void drop() {
        if (listener != null) {
            id.close();
        }
    }

    void opened() {
        id.openEvents++;
    }

    /** Closes the event; rejects a request whose id was not taken. */
    @Override
    public void close() {
        id.channel.lock.lock();
        try {
            id.openEvents--;
        } finally {
            id.channel.lock.unlock();
        }
        if (listener != null && !taken) {
            id.close();
        }
    }

    @Override
    public String toString() {
        return type.toString();
    }
}
