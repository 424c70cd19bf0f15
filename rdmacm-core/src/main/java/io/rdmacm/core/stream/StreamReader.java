// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.rdmacm.verbs.error.RdmaException;

/** Copies what has arrived to the program. One thread at a time does so. */
final class StreamReader {
    private final StreamCore core;
    private final Turn turn = new Turn();

    StreamReader(StreamCore core) {
        this.core = core;
    }

    Turn turn() {
        return turn;
    }

    /** Returns whether no thread is reading now. */
    boolean isIdle() {
        return turn.isIdle();
    }

    /** Reads without waiting; returns 0 if nothing has arrived, -1 at the end. */
    int read(MemorySegment target) throws RdmaException {
        try (var _ = turn.hold()) {
            int length = (int) Math.min(available(), target.byteSize());
            if (length > 0) {
                core.queues().copyOut(core.receiving().readOffset(), target, length);
                consume(length);
            }
            return target.byteSize() == 0 ? 0 : length;
        } catch (Error e) {
            core.torn = true;
            throw e;
        }
    }

    /** Reads without waiting; returns 0 if nothing has arrived, -1 at the end. */
    int read(ByteBuffer target) throws RdmaException {
        try (var _ = turn.hold()) {
            int available = available();
            if (!target.hasRemaining()) {
                return 0;
            }
            return available <= 0 ? available : copy(target, available);
        } catch (Error e) {
            core.torn = true;
            throw e;
        }
    }

    /** Reads without waiting; returns 0 if nothing has arrived, -1 at the end. */
    long read(ByteBuffer[] targets, int first, int count) throws RdmaException {
        try (var _ = turn.hold()) {
            int available = available();
            if (available <= 0) {
                return hasRemaining(targets, first, count) ? available : 0;
            }
            long total = 0;
            for (int i = first; i < first + count && total < available; i++) {
                if (targets[i].hasRemaining()) {
                    total += copy(targets[i], available - (int) total);
                }
            }
            return total;
        } catch (Error e) {
            core.torn = true;
            throw e;
        }
    }

    private static boolean hasRemaining(ByteBuffer[] targets, int first, int count) {
        for (int i = first; i < first + count; i++) {
            if (targets[i].hasRemaining()) {
                return true;
            }
        }
        return false;
    }

    /** Returns how many bytes this thread may take, -1 at the end of the stream. */
    private int available() throws RdmaException {
        core.requireConnected();
        if (core.isInputShut()) {
            // What arrives is dropped, by another thread.
            return -1;
        }
        if (turn.isOfAnother()) {
            return 0;
        }
        ReceiveWindow window = core.receiving();
        if (window.available() == 0) {
            core.takeArrived();
        }
        // In this order: what arrived before the end is read before the end.
        boolean ended = core.hasInputEnded();
        int available = window.available();
        return available > 0 || !ended ? available : core.emptyRead();
    }

    private int copy(ByteBuffer target, int available) {
        int position = target.position();
        int length = Math.min(available, target.remaining());
        core.queues().copyOut(core.receiving().readOffset(), target, position, length);
        target.position(position + length);
        consume(length);
        return length;
    }

    private void consume(int length) {
        core.receiving().consume(length);
        if (core.receiving().hasFreeHalf()) {
            core.freed();
        }
    }
}
