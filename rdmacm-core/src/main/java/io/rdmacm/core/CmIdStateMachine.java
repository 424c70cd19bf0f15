// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.core.CmIdTransitions.Call;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Lifetime;
import org.jspecify.annotations.Nullable;

/**
 * The current state and channel of an id. Both change only with the channel's lock held, and only here. The possible
 * changes are in the table of {@link CmIdTransitions}.
 *
 * <p>Holds the {@link Lifetime} of the id, which names it in messages, but not the id itself.
 */
final class CmIdStateMachine {
    private final Lifetime life;
    // Written with the locks of both channels held.
    private volatile EventChannel channel;
    private volatile CmIdState state;
    // Whether an event has ended a connection that C can still disconnect. Used with the channel's lock held.
    private boolean wasConnected;
    // whether an event was read after this side had asked for the end
    private volatile boolean disconnected;
    // Null for none; guarded by the channel's lock.
    private @Nullable Runnable endHandler;

    CmIdStateMachine(Lifetime life, EventChannel channel, CmIdState state) {
        this.life = life;
        this.channel = channel;
        this.state = state;
    }

    /** The native part of a call. */
    @FunctionalInterface
    interface Step {
        /** Calls C; when it throws, the state does not change. */
        void run() throws RdmaException;
    }

    /**
     * The native part of a call that creates or reads something.
     *
     * @param <R> the type of the result
     */
    @FunctionalInterface
    interface Query<R extends @Nullable Object> {
        /** Calls C; when it throws, the state does not change. */
        R run() throws RdmaException;
    }

    CmIdState state() {
        return state;
    }

    /** Returns whether the connection has ended after this side had disconnected. */
    boolean hasDisconnected() {
        return disconnected;
    }

    EventChannel channel() {
        return channel;
    }

    /** Returns the message for a call or query that came too early or too late. */
    String describe(String problem) {
        return problem + ", next step: " + CmIdTransitions.nextStep(state);
    }

    /**
     * Runs a call if it is legal in the current state. Meanwhile no other thread changes the id, and no event is read.
     */
    <R extends @Nullable Object> R call(Call call, Query<R> step) throws RdmaException {
        life.enter();
        try {
            EventChannel current = lockChannel();
            try {
                CmIdState before = state;
                CmIdState next = call.after(before);
                if (next == null) {
                    throw new IllegalStateException(describe(call.method() + " is not legal now: " + life + " is "
                            + before));
                }
                R result = step.run();
                // C may call back into the program, which may read an event. That event is newer than this call.
                if (state == before) {
                    state = next;
                }
                return result;
            } finally {
                current.lock().unlock();
            }
        } finally {
            life.leave();
        }
    }

    /** As {@link #call}, for a call without a result. */
    void run(Call call, Step step) throws RdmaException {
        call(call, () -> {
            step.run();
            return null;
        });
    }

    /** Returns whether there was a connection when the id failed. With the channel's lock held. */
    boolean wasConnected() {
        return wasConnected;
    }

    /** Updates the state after an event was read. With the channel's lock held. */
    void happened(CmEventType event) {
        if (state == CmIdState.DISCONNECTING) {
            disconnected = true;
        }
        CmIdState next = CmIdTransitions.after(event, state);
        if (next == CmIdState.FAILED) {
            wasConnected = state == CmIdState.CONNECTED && event != CmEventType.DEVICE_REMOVAL;
        }
        state = next;
        runEndHandler();
    }

    /**
     * Runs a handler once, as soon as the event that ends the connection is read: in the thread that reads it, with
     * the channel's lock held. Runs it at once when the connection is over already.
     */
    void whenOver(Runnable handler) {
        EventChannel current = lockChannel();
        try {
            endHandler = handler;
            runEndHandler();
        } finally {
            current.lock().unlock();
        }
    }

    private void runEndHandler() {
        if (endHandler != null && state.isOver()) {
            Runnable handler = endHandler;
            endHandler = null;
            handler.run();
        }
    }

    /** Locks the channel of the id, which another thread may be changing, and returns it. */
    EventChannel lockChannel() {
        while (true) {
            EventChannel current = channel;
            current.lock().lock();
            if (current == channel) {
                return current;
            }
            current.lock().unlock();
        }
    }

    /** Records that the id was moved to another channel. With the locks of both channels held. */
    void movedTo(EventChannel target) {
        channel = target;
    }
}
