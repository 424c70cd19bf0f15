// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

import io.rdmacm.core.CmId;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * The queues and the registered memory of a stream, and how its messages become work requests. It knows nothing of
 * credits. The memory that the peer writes to:
 *
 * <pre>
 * target list | mappings of the peer | receive buffer
 * </pre>
 *
 * <p>and the memory that only this side sees:
 *
 * <pre>
 * send buffer | inline data of the writer | entries for the peer's target list
 * </pre>
 */
final class StreamQueues {
    /** How many requests are set aside for messages other than data. */
    static final int CONTROLS = 4;
    /** The bit of the ids of receives. */
    static final long RECEIVE = 1L << 63;
    /** The bit of the ids of messages other than data; the rest is the message. */
    static final long CONTROL = 1L << 62;

    private static final int TARGET_SIZE = 16;
    private static final int MAP_SIZE = 24;
    private static final int LINE = 64;
    private static final int BATCH = 16;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    private final StreamDevice device;
    private final StreamSettings settings;
    private final int sendQueueSize;
    private final int receiveQueueSize;
    private final int receiveBufferSize;
    @SuppressWarnings("NullAway.Init")
    private CompletionChannel channel;
    @SuppressWarnings("NullAway.Init")
    private CompletionQueue completionQueue;
    @SuppressWarnings("NullAway.Init")
    private QueuePair pair;
    private int inlineSize;
    @SuppressWarnings("NullAway.Init")
    private MemoryRegion sendRegion;
    @SuppressWarnings("NullAway.Init")
    private MemoryRegion receiveRegion;
    @SuppressWarnings("NullAway.Init")
    private MemorySegment receiveMemory;
    @SuppressWarnings("NullAway.Init")
    private MemorySegment sendMemory;
    @SuppressWarnings("NullAway.Init")
    private ByteBuffer receiveBytes;
    @SuppressWarnings("NullAway.Init")
    private ByteBuffer sendBytes;
    private final int mapsOffset;
    private final int bufferOffset;
    private final int inlineOffset;
    private final int controlOffset;
    private final WorkCompletions completions = WorkCompletions.allocate(BATCH);
    // used by the writer
    private final SendRequest data = SendRequests.allocate(1, 2).get(0);
    private final SendRequest inline = SendRequests.allocate(1, 1).get(0);
    // used with the lock of the stream held
    private final SendRequest control = SendRequests.allocate(1, 1).get(0);
    private final ReceiveRequests receives = ReceiveRequests.allocate(BATCH, 1);
    private final int mostOwed;
    private int owedReceives;
    private int controlSlot;
    private boolean closed;

    private StreamQueues(StreamDevice device, StreamSettings settings) {
        this.device = device;
        this.settings = settings;
        this.sendQueueSize = device.queueSize(settings.sendQueueSize());
        this.receiveQueueSize = device.queueSize(settings.receiveQueueSize());
        // so that both halves begin at a cache line
        this.receiveBufferSize = settings.receiveBufferSize() / (2 * LINE) * (2 * LINE);
        this.mapsOffset = SendWindow.TARGETS * TARGET_SIZE;
        this.bufferOffset = aligned(mapsOffset + settings.mapSlots() * MAP_SIZE);
        this.inlineOffset = aligned(settings.sendBufferSize());
        this.controlOffset = inlineOffset + aligned(settings.inlineSize());
        this.mostOwed = Math.clamp(receiveQueueSize / 8, 1, BATCH);
        for (int i = 0; i < BATCH; i++) {
            receives.get(i).id(RECEIVE).noData();
        }
    }

    private static int aligned(int offset) {
        return (offset + LINE - 1) / LINE * LINE;
    }

    /** Creates everything for an id that is bound to a device, and posts the receives. */
    static StreamQueues create(CmId id, StreamSettings settings) throws RdmaException {
        StreamQueues queues = new StreamQueues(StreamDevice.acquire(id), settings);
        boolean made = false;
        try {
            queues.make(id);
            made = true;
            return queues;
        } finally {
            if (!made) {
                queues.close();
            }
        }
    }

    private void make(CmId id) throws RdmaException {
        if (settings.ackTimeout().isPresent()) {
            id.options().ackTimeout(settings.ackTimeout().get());
        }
        channel = device.context().createCompletionChannel();
        completionQueue = device.context().createCompletionQueue(sendQueueSize + receiveQueueSize, channel);
        pair = id.createQueuePair(device.domain(), QueuePairInitAttributes.builder().completionQueue(completionQueue)
                .maxSendRequests(sendQueueSize).maxReceiveRequests(receiveQueueSize).maxSendScatterGather(2)
                .maxReceiveScatterGather(1).maxInlineData(settings.inlineSize()).build());
        inlineSize = Math.min(settings.inlineSize(), pair.capabilities().maxInlineData());
        sendRegion = device.domain().allocate(controlOffset + (long) CONTROLS * TARGET_SIZE, AccessFlag.LOCAL_WRITE);
        receiveRegion = device.domain().allocate((long) bufferOffset + receiveBufferSize, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
        sendMemory = sendRegion.memory();
        receiveMemory = receiveRegion.memory();
        sendBytes = sendMemory.asByteBuffer();
        receiveBytes = receiveMemory.asByteBuffer();
        for (int left = receiveQueueSize; left > 0; left -= BATCH) {
            pair.postReceive(receives, 0, Math.min(left, BATCH));
        }
        inline.inline(true);
    }

    /** Returns what the peer is told. */
    ConnectData connectData() {
        return new ConnectData(ConnectData.isBigEndianHere(), receiveQueueSize, settings.mapSlots(),
                receiveRegion.remoteAddress(), SendWindow.TARGETS, receiveRegion.remoteKey(),
                receiveRegion.remoteAddress() + bufferOffset, receiveBufferSize / 2, receiveRegion.remoteKey());
    }

    ReceiveWindow newReceiveWindow() {
        return new ReceiveWindow(receiveBufferSize, receiveQueueSize);
    }

    SendLedger newLedger() {
        return new SendLedger(sendQueueSize - CONTROLS, settings.sendBufferSize());
    }

    ProtectionDomain domain() {
        return device.domain();
    }

    int receiveBufferSize() {
        return receiveBufferSize;
    }

    int sendBufferSize() {
        return settings.sendBufferSize();
    }

    int inlineSize() {
        return inlineSize;
    }

    int completionFile() {
        return channel.fd();
    }

    /** Takes a batch of completions. */
    WorkCompletions poll() throws RdmaException {
        completionQueue.poll(completions);
        return completions;
    }

    /** Returns how many completions there can be. */
    int mostCompletions() {
        return sendQueueSize + receiveQueueSize;
    }

    /** Returns whether a batch was full, so that there may be more. */
    boolean wasFull() {
        return completions.size() == BATCH;
    }

    /** Asks for an event at the next completion. */
    void arm() throws RdmaException {
        completionQueue.requestNotification(false);
    }

    /** Takes an event; returns whether there was one. */
    boolean takeEvent() throws RdmaException {
        return channel.pollEvent().isPresent();
    }

    /** Takes note of a receive that has been used, and posts new ones now and then. */
    void receiveUsed() throws RdmaException {
        owedReceives++;
        if (owedReceives >= mostOwed) {
            postReceives();
        }
    }

    /** Posts a receive for each one that has been used. */
    void postReceives() throws RdmaException {
        if (owedReceives > 0) {
            pair.postReceive(receives, 0, owedReceives);
            owedReceives = 0;
        }
    }

    /** Copies bytes out of the receive buffer. */
    void copyOut(int offset, MemorySegment target, long targetOffset, int length) {
        MemorySegment.copy(receiveMemory, (long) bufferOffset + offset, target, targetOffset, length);
    }

    /** Copies bytes out of the receive buffer, to the position of another one, which is left as it is. */
    void copyOut(int offset, ByteBuffer target, int targetIndex, int length) {
        target.put(targetIndex, receiveBytes, bufferOffset + offset, length);
    }

    /** Copies bytes to the send buffer. */
    void copyIn(MemorySegment source, long sourceOffset, int offset, int length) {
        MemorySegment.copy(source, sourceOffset, sendMemory, offset, length);
    }

    /** Copies bytes to the send buffer. */
    void copyIn(ByteBuffer source, int sourceIndex, int offset, int length) {
        sendBytes.put(offset, source, sourceIndex, length);
    }

    /** Returns where inline data are copied to, as an offset of the send buffer. */
    int inlineOffset() {
        return inlineOffset;
    }

    /** Writes the inline data that were copied to the peer, with a message. */
    void postInline(int length, long number, boolean signal, long address, int key, int message)
            throws RdmaException {
        pair.postSend(inline.id(number).data(sendRegion, inlineOffset, length).signaled(signal)
                .rdmaWriteWithImmediate(address, key, message));
    }

    /** Writes bytes of the send buffer, which may wrap, to the peer, with a message. */
    void postBuffered(int offset, int length, long number, boolean signal, long address, int key, int message)
            throws RdmaException {
        pair.postSend(buffered(offset, length).id(number).signaled(signal)
                .rdmaWriteWithImmediate(address, key, message));
    }

    /** Writes bytes of the send buffer, which may wrap, to the peer, who is not told. */
    void postSilent(int offset, int length, long number, boolean signal, long address, int key)
            throws RdmaException {
        pair.postSend(buffered(offset, length).id(number).signaled(signal).rdmaWrite(address, key));
    }

    private SendRequest buffered(int offset, int length) {
        int first = Math.min(length, settings.sendBufferSize() - offset);
        data.data(sendRegion, offset, first);
        return first == length ? data : data.data(1, sendRegion, 0, length - first);
    }

    /** Writes bytes of the program to the peer, with a message. */
    void postLent(MemoryRegion region, long offset, int length, long number, boolean signal, long address, int key,
            int message) throws RdmaException {
        pair.postSend(data.data(region, offset, length).id(number).signaled(signal)
                .rdmaWriteWithImmediate(address, key, message));
    }

    /** Sends a message without data. */
    void postControl(int message) throws RdmaException {
        pair.postSend(control.noData().inline(false).id(CONTROL | Integer.toUnsignedLong(message))
                .rdmaWriteWithImmediate(0, 0, message));
    }

    /** Writes nothing to the peer, which fails if the peer cannot be reached. */
    void postKeepAlive() throws RdmaException {
        int message = StreamMessage.of(StreamMessage.CONTROL, StreamMessage.KEEP_ALIVE);
        pair.postSend(control.noData().inline(false).id(CONTROL | Integer.toUnsignedLong(message)).rdmaWrite(0, 0));
    }

    /**
     * Writes a part of the receive buffer to the target list of the peer, with a message.
     *
     * @param peer what the peer said about its list
     * @param index of the entry
     * @param offset of the part in the receive buffer
     * @param length of the part
     */
    void postTarget(ConnectData peer, int index, int offset, int length, int message) throws RdmaException {
        boolean swap = peer.bigEndian() != ConnectData.isBigEndianHere();
        long slot = controlOffset + (long) controlSlot * TARGET_SIZE;
        controlSlot = (controlSlot + 1) % CONTROLS;
        writeTarget(sendMemory, slot, receiveRegion.remoteAddress() + bufferOffset + offset,
                receiveRegion.remoteKey(), length, swap);
        pair.postSend(control.data(sendRegion, slot, TARGET_SIZE).inline(inlineSize >= TARGET_SIZE)
                .id(CONTROL | Integer.toUnsignedLong(message))
                .rdmaWriteWithImmediate(peer.targets() + (long) index * TARGET_SIZE, peer.targetKey(), message));
    }

    private static void writeTarget(MemorySegment memory, long offset, long address, int key, int length,
            boolean swap) {
        memory.set(LONG, offset, swap ? Long.reverseBytes(address) : address);
        memory.set(INT, offset + 8, swap ? Integer.reverseBytes(key) : key);
        memory.set(INT, offset + 12, swap ? Integer.reverseBytes(length) : length);
    }

    /**
     * Takes an entry of the target list if the peer has written one there.
     *
     * @return whether there was one
     */
    boolean takeTarget(int index, SendWindow window) throws StreamProtocolException {
        long entry = (long) index * TARGET_SIZE;
        int length = receiveMemory.get(INT, entry + 12);
        if (length == 0) {
            return false;
        }
        long address = receiveMemory.get(LONG, entry);
        int key = receiveMemory.get(INT, entry + 8);
        receiveMemory.set(INT, entry + 12, 0);
        window.offer(address, key, length);
        return true;
    }

    /** Writes a mapping to the send buffer, and returns its length. The offset may be where the buffer wraps. */
    int copyMapping(int offset, long mapOffset, MemoryRegion region, boolean swap) {
        ByteBuffer entry = ByteBuffer.allocate(MAP_SIZE);
        MemorySegment memory = MemorySegment.ofBuffer(entry);
        ValueLayout.OfLong unaligned = ValueLayout.JAVA_LONG_UNALIGNED;
        ValueLayout.OfInt unalignedInt = ValueLayout.JAVA_INT_UNALIGNED;
        memory.set(unaligned, 0, swap ? Long.reverseBytes(mapOffset) : mapOffset);
        long address = region.remoteAddress();
        memory.set(unaligned, 8, swap ? Long.reverseBytes(address) : address);
        memory.set(unalignedInt, 16, swap ? Integer.reverseBytes(region.remoteKey()) : region.remoteKey());
        int length = (int) region.length();
        memory.set(unalignedInt, 20, swap ? Integer.reverseBytes(length) : length);
        int first = Math.min(MAP_SIZE, settings.sendBufferSize() - offset);
        sendBytes.put(offset, entry, 0, first).put(0, entry, first, MAP_SIZE - first);
        return MAP_SIZE;
    }

    /** Returns the address of an entry in the list of mappings of the peer. */
    static long mappingAddress(ConnectData peer, int index) {
        return peer.targets() + (long) peer.targetCount() * TARGET_SIZE + (long) index * MAP_SIZE;
    }

    long mappedOffset(int index) {
        return receiveMemory.get(LONG, mapEntry(index));
    }

    long mappedAddress(int index) {
        return receiveMemory.get(LONG, mapEntry(index) + 8);
    }

    int mappedKey(int index) {
        return receiveMemory.get(INT, mapEntry(index) + 16);
    }

    long mappedLength(int index) {
        return Integer.toUnsignedLong(receiveMemory.get(INT, mapEntry(index) + 20));
    }

    private long mapEntry(int index) {
        return mapsOffset + (long) index * MAP_SIZE;
    }

    /** Destroys the queue pair, which ends the use of all memory by the device. */
    void closePair() throws RdmaException {
        if (pair != null) {
            pair.close();
        }
    }

    /** Frees everything. Has no effect when called again. */
    synchronized void close() throws RdmaException {
        if (closed) {
            return;
        }
        closePair();
        if (receiveRegion != null) {
            receiveRegion.close();
        }
        if (sendRegion != null) {
            sendRegion.close();
        }
        if (completionQueue != null) {
            completionQueue.close();
        }
        if (channel != null) {
            channel.close();
        }
        closed = true;
        device.release();
    }
}
