// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

/**
 * What the peer can receive: where the next data go, how much there is room for, and how many messages. The peer
 * publishes targets in a list of two entries, which are used one after the other.
 *
 * <p>One thread writes, and another one takes the messages of the peer with the lock of the stream held.
 */
final class SendWindow {
    /** How many entries the list has in the memory of this side; a power of 2. */
    static final int TARGETS = 2;

    private static final int SEQUENCE_MASK = 0xFFFF;

    private final int credits;
    private final int spared;
    // Numbers of messages, 16 bits. The first is written by the writer, the second by the taker.
    private volatile int sent;
    private volatile int limit;
    // Targets on their way from the taker to the writer; each side publishes what it did with its counter.
    private final long[] addresses = new long[TARGETS];
    private final int[] keys = new int[TARGETS];
    private final int[] lengths = new int[TARGETS];
    private volatile int offered;
    private volatile int taken;
    // The current target; used by the writer. Others may look at its length.
    private long address;
    private int key;
    private volatile int length;
    // Since the beginning; written by the writer.
    private long messages;
    private long bytesSent;

    /**
     * Creates a window.
     *
     * @param peer what the peer said
     * @param spare how many receives of the peer are left for messages that need no credit
     * @param listensFirst whether nothing may be sent before {@link #begin}
     */
    SendWindow(ConnectData peer, int spare, boolean listensFirst) {
        this.credits = peer.credits();
        this.spared = Math.min(spare, credits / 2);
        this.limit = listensFirst ? spared : credits;
        this.address = peer.buffer();
        this.key = peer.bufferKey();
        this.length = peer.bufferLength();
    }

    /** Takes note of the first message of the peer. */
    void begin() {
        limit = credits;
    }

    /** Takes a credit message: the number of the last message that may be sent. */
    void credit(int value) throws StreamProtocolException {
        int end = value & SEQUENCE_MASK;
        if ((end - sent & SEQUENCE_MASK) > credits) {
            throw new StreamProtocolException("it grants credits up to message " + end + " after message " + sent
                    + ", although it can take " + credits);
        }
        limit = end;
    }

    /** Takes a target that the peer has published. */
    void offer(long targetAddress, int targetKey, int targetLength) throws StreamProtocolException {
        ConnectData.requireLength(targetLength);
        int number = offered;
        if (number - taken == TARGETS) {
            throw new StreamProtocolException("it overwrites targets that are not used up");
        }
        int index = number & TARGETS - 1;
        addresses[index] = targetAddress;
        keys[index] = targetKey;
        lengths[index] = targetLength;
        offered = number + 1;
    }

    /** Returns whether a message can be sent. */
    boolean hasCredit() {
        return (limit - sent & SEQUENCE_MASK) > spared;
    }

    /** Returns whether the peer has room for data. For other threads than the writer. */
    boolean hasRoom() {
        return length != 0 || offered != taken;
    }

    /** Returns how many bytes can be written with one message. For the writer. */
    int room() {
        if (length == 0 && offered != taken) {
            int number = taken;
            int index = number & TARGETS - 1;
            address = addresses[index];
            key = keys[index];
            length = lengths[index];
            taken = number + 1;
        }
        return length;
    }

    /** Returns where to write. For the writer, after {@link #room}. */
    long address() {
        return address;
    }

    /** Returns the key for {@link #address}. For the writer. */
    int key() {
        return key;
    }

    /** Takes note of a message with data. For the writer, before the message is posted. */
    void sent(int bytes) {
        address += bytes;
        bytesSent += bytes;
        length -= bytes;
        sent();
    }

    /** Takes note of a message that needs a credit. For the writer, before the message is posted. */
    void sent() {
        messages++;
        sent = sent + 1 & SEQUENCE_MASK;
    }

    /** Returns how many messages there were. For any thread, which may see the number late. */
    long messages() {
        return messages;
    }

    /** Returns how many bytes there were. For any thread, which may see the number late. */
    long bytesSent() {
        return bytesSent;
    }
}
