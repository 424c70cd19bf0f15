// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;

/** Sends what the program writes. One thread at a time does so. Not final: tests replace what uses the queues. */
class StreamWriter {
    /** With less room in the send buffer than this, nothing is sent: many small messages are slower than a pause. */
    static final int LOW_WATER = 2048;

    // Longer data are sent in pieces, so that the peer can read the first ones while the others are copied.
    private static final int LONGEST_PIECE = 1 << 16;
    // What is not copied need not be cut, but for the message.
    private static final int LONGEST_LENT = 1 << 28;

    private final StreamCore core;
    private final Turn turn = new Turn();
    // what StreamCore.polls() was before the last write
    private int polls;

    StreamWriter(StreamCore core) {
        this.core = core;
    }

    Turn turn() {
        return turn;
    }

    /** Returns whether no thread is writing now. */
    boolean isIdle() {
        return turn.isIdle();
    }

    /** Writes without waiting; returns how much. */
    int write(MemorySegment source, long from) throws RdmaException {
        try (var _ = turn.hold()) {
            if (!begin()) {
                return 0;
            }
            long left = Math.min(source.byteSize() - from, Integer.MAX_VALUE);
            int total = 0;
            for (int length = next(left); length > 0; length = next(left - total)) {
                copyIn(source, from + total, length);
                if (!post(length, total)) {
                    break;
                }
                total += length;
            }
            return total;
        } catch (Error e) {
            core.torn = true;
            throw e;
        }
    }

    /** Writes without waiting; returns how much. */
    int write(ByteBuffer source) throws RdmaException {
        try (var _ = turn.hold()) {
            if (!begin()) {
                return 0;
            }
            int position = source.position();
            int left = source.remaining();
            int total = 0;
            for (int length = next(left); length > 0; length = next(left - total)) {
                core.queues().copyIn(source, position + total, target(length), length);
                if (!post(length, total)) {
                    break;
                }
                total += length;
            }
            source.position(position + total);
            return total;
        } catch (Error e) {
            core.torn = true;
            throw e;
        }
    }

    /** Writes without waiting; returns how much. Short buffers share a message. */
    long write(ByteBuffer[] sources, int first, int count) throws RdmaException {
        try (var _ = turn.hold()) {
            if (!begin()) {
                return 0;
            }
            long left = 0;
            for (int i = first; i < first + count; i++) {
                left += sources[i].remaining();
            }
            int total = 0;
            left = Math.min(left, Integer.MAX_VALUE);
            for (int length = next(left); length > 0; length = next(left - total)) {
                gather(sources, first, total, length);
                if (!post(length, total)) {
                    break;
                }
                total += length;
            }
            advance(sources, first, count, total);
            return total;
        } catch (Error e) {
            core.torn = true;
            throw e;
        }
    }

    /** Copies a part of what is in several buffers, whose positions are left as they are. */
    void gather(ByteBuffer[] sources, int first, int skip, int length) {
        int target = target(length);
        int size = length <= core.queues().inlineSize() ? Integer.MAX_VALUE : core.queues().sendBufferSize();
        int left = length;
        int skipped = skip;
        for (int i = first; left > 0; i++) {
            int remaining = sources[i].remaining();
            int from = Math.min(skipped, remaining);
            int part = Math.min(remaining - from, left);
            if (part > 0) {
                core.queues().copyIn(sources[i], sources[i].position() + from, target, part);
                target = (target + part) % size;
            }
            skipped -= from;
            left -= part;
        }
    }

    private static void advance(ByteBuffer[] sources, int first, int count, int total) {
        int left = total;
        for (int i = first; i < first + count && left > 0; i++) {
            int part = Math.min(left, sources[i].remaining());
            sources[i].position(sources[i].position() + part);
            left -= part;
        }
    }

    /** Writes without waiting and without copying; returns how much. */
    int write(MemoryRegion region, long offset, long length) throws RdmaException {
        try (var _ = turn.hold()) {
            if (!begin()) {
                return 0;
            }
            if (region.protectionDomain() != core.queues().domain()) {
                throw new IllegalArgumentException(region + " belongs to another protection domain than " + core
                        + ": register memory in stream.protectionDomain()");
            }
            Objects.checkFromIndexSize(offset, length, region.length());
            long most = Math.min(length, Integer.MAX_VALUE);
            int total = 0;
            while (total < most && canSend(false)) {
                int part = (int) Math.min(Math.min(most - total, LONGEST_LENT), core.sending().room());
                if (!postLent(region, offset + total, part, total)) {
                    break;
                }
                total += part;
            }
            return total;
        } catch (Error e) {
            core.torn = true;
            throw e;
        }
    }

    private boolean postLent(MemoryRegion region, long offset, int length, int total) throws RdmaException {
        SendWindow window = core.sending();
        long address = window.address();
        int key = window.key();
        long number = core.ledger().next();
        boolean signal = core.ledger().post(0, length);
        window.sent(length);
        try {
            core.queues().postLent(region, offset, length, number, signal, address, key,
                    StreamMessage.of(StreamMessage.DATA, length));
            return true;
        } catch (RdmaException | IllegalStateException e) {
            return failed(e, total);
        }
    }

    /** Writes to memory that the peer has mapped, without waiting; returns how much. */
    int writeMapped(MemorySegment source, long offset) throws RdmaException {
        try (var _ = turn.hold()) {
            if (!begin()) {
                return 0;
            }
            int index = core.findMapping(offset);
            if (index < 0) {
                core.takeArrived();
                index = core.findMapping(offset);
            }
            if (index < 0) {
                throw new IndexOutOfBoundsException("the peer has mapped no memory at offset " + offset);
            }
            return writeMapped(source, offset, index);
        } catch (Error e) {
            core.torn = true;
            throw e;
        }
    }

    private int writeMapped(MemorySegment source, long offset, int index) throws RdmaException {
        StreamQueues queues = core.queues();
        long distance = offset - queues.mappedOffset(index);
        long address = queues.mappedAddress(index) + distance;
        int key = queues.mappedKey(index);
        long left = Math.min(Math.min(source.byteSize(), queues.mappedLength(index) - distance), Integer.MAX_VALUE);
        int total = 0;
        while (total < left && canSendUnannounced()) {
            int length = (int) Math.min(Math.min(left - total, LONGEST_PIECE), core.ledger().free());
            int target = core.ledger().offset();
            queues.copyIn(source, total, target, length);
            long number = core.ledger().next();
            boolean signal = core.ledger().post(length, 0);
            try {
                queues.postWithoutImmediate(target, length, number, signal, address + total, key);
            } catch (RdmaException | IllegalStateException e) {
                failed(e, total);
                break;
            }
            total += length;
        }
        return total;
    }

    private boolean canSendUnannounced() {
        if (!core.ledger().hasRequest() || !core.hasSendBuffer()) {
            core.takeArrived();
        }
        return core.ledger().hasRequest() && core.hasSendBuffer();
    }

    /** Tells the peer of mappings, as far as possible now. */
    void publishMappings() throws RdmaException {
        try (var _ = turn.hold()) {
            core.requireOutput();
            publish();
        } catch (Error e) {
            core.torn = true;
            throw e;
        }
    }

    /** Checks that there is an output, and sends what has to come first. Returns false if it is another one's turn. */
    boolean begin() throws RdmaException {
        // A program that only writes learns of the end of the stream, too.
        int now = core.polls();
        if (now == polls) {
            core.takeArrived();
            now = core.polls();
        }
        polls = now;
        core.requireOutput();
        if (turn.isOfAnother()) {
            return false;
        }
        if (core.hasUnpublished()) {
            publish();
        }
        return true;
    }

    private void publish() throws RdmaException {
        core.lock.lock();
        try {
            for (StreamMapping next = core.maps().nextUnpublished(); next != null && canSendMessage();
                    next = core.maps().nextUnpublished()) {
                ConnectData peer = core.peer();
                int offset = core.ledger().offset();
                int length = core.queues().copyMapping(offset, next.offset(), next.region(),
                        peer.bigEndian() != ConnectData.isBigEndianHere());
                long number = core.ledger().next();
                boolean signal = core.ledger().post(length, 0);
                core.sending().sent();
                core.published();
                core.queues().postBuffered(offset, length, number, signal,
                        StreamQueues.mappingAddress(peer, next.index()), peer.targetKey(),
                        StreamMessage.of(StreamMessage.MAPPED, next.index()));
            }
        } catch (RdmaException | IllegalStateException e) {
            failed(e, 0);
        } finally {
            core.lock.unlock();
        }
    }

    private boolean canSendMessage() {
        if (!core.sending().hasCredit() || !core.ledger().hasRequest() || !core.hasSendBuffer()) {
            core.takeArrived();
        }
        return core.sending().hasCredit() && core.ledger().hasRequest() && core.hasSendBuffer();
    }

    /** Returns how many bytes the next message can carry, 0 if there can be none now. */
    int next(long left) {
        // Mappings come first.
        if (left == 0 || !canSend(true) || core.hasUnpublished()) {
            return 0;
        }
        int most = (int) Math.min(left, Math.min(LONGEST_PIECE, core.sending().room()));
        return Math.min(most, core.ledger().free());
    }

    private boolean canSend(boolean buffered) {
        if (!canSendNow(buffered)) {
            core.takeArrived();
            return canSendNow(buffered);
        }
        return true;
    }

    private boolean canSendNow(boolean buffered) {
        return core.sending().hasCredit() && core.sending().room() > 0 && core.ledger().hasRequest()
                && (!buffered || core.hasSendBuffer());
    }

    /** Returns where the data of a message are copied to. */
    private int target(int length) {
        return length <= core.queues().inlineSize() ? core.queues().inlineOffset() : core.ledger().offset();
    }

    /** Copies the data of a message to where they are sent from. */
    void copyIn(MemorySegment source, long from, int length) {
        core.queues().copyIn(source, from, target(length), length);
    }

    /**
     * Sends the data that were copied.
     *
     * @param total how many bytes were written before
     * @return false if that failed, but something was written before
     */
    boolean post(int length, int total) throws RdmaException {
        StreamQueues queues = core.queues();
        SendWindow window = core.sending();
        SendLedger ledger = core.ledger();
        long address = window.address();
        int key = window.key();
        int message = StreamMessage.of(StreamMessage.DATA, length);
        long number = ledger.next();
        boolean inline = length <= queues.inlineSize();
        int offset = ledger.offset();
        boolean signal = ledger.post(inline ? 0 : length, 0);
        // Before the post: the peer may answer at once.
        window.sent(length);
        try {
            if (inline) {
                queues.postInline(length, number, signal, address, key, message);
            } else {
                queues.postBuffered(offset, length, number, signal, address, key, message);
            }
            return true;
        } catch (RdmaException | IllegalStateException e) {
            return failed(e, total);
        }
    }

    private boolean failed(Exception reason, int total) throws RdmaException {
        core.failed(reason);
        if (total == 0) {
            core.requireOutput();
        }
        return false;
    }
}
