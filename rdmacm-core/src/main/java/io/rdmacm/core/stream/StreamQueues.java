// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Objects;

import io.rdmacm.core.CmId;
import io.rdmacm.core.CmIdState;
import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.core.internal.engine.Loop;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.pool.RegisteredSlice;
import org.jspecify.annotations.Nullable;

/**
 * The queues and the memory of a stream, and how its messages become work requests. It knows nothing of credits. The
 * memory that the peer writes to:
 *
 * <pre>
 * target list | mappings of the peer | receive buffer
 * </pre>
 *
 * <p>and the memory that only this side sees:
 *
 * <pre>
 * send buffer | inline data of the writer | entries for the peer's target list | messages to send | received messages
 * </pre>
 *
 * <p>Both are slices of registered memory that the streams of a device share. Messages have a place there only if the
 * device has no immediate values.
 */
final class StreamQueues {
    /** How many requests are set aside for messages other than data. */
    static final int CONTROLS = 4;
    /**
     * How many messages without a credit a side may have sent at most before it has to hear of the other one: 2 for the
     * halves of its buffer, 2 for credits, and those that end the stream. On iWARP, where a message that meets no
     * receive ends the connection, there are receives for them.
     */
    static final int CREDITLESS = 8;
    /** The bit of the ids of receives. */
    static final long RECEIVE = 1L << 63;
    /** The bit of the ids of messages other than data; the rest is the message. */
    static final long CONTROL = 1L << 62;

    private static final int TARGET_SIZE = 16;
    private static final int MAP_SIZE = 24;
    private static final int LINE = 64;
    private static final int SENDERS = 3;
    private static final int BATCH = 16;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    private final DeviceResources device;
    private final StreamSettings settings;
    private final int sendQueueSize;
    private final int receiveQueueSize;
    private final int receiveCount;
    private final int receiveBufferSize;
    // null if the completion queue is the stream's own, which then has a channel
    private final @Nullable StreamLoop shared;
    private final Loop.@Nullable Member member;
    private StreamLoop.@Nullable DeviceLoop joined;
    private int reserved;
    private int number;
    @SuppressWarnings("NullAway.Init")
    private CompletionChannel channel;
    @SuppressWarnings("NullAway.Init")
    private CompletionQueue completionQueue;
    @SuppressWarnings("NullAway.Init")
    private QueuePair pair;
    private int inlineSize;
    @SuppressWarnings("NullAway.Init")
    private RegisteredSlice sendSlice;
    @SuppressWarnings("NullAway.Init")
    private RegisteredSlice receiveSlice;
    @SuppressWarnings("NullAway.Init")
    private MemoryRegion sendRegion;
    // where the slices begin: in the region, and for the peer
    private long sendBase;
    private long receiveAddress;
    private int receiveKey;
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
    private final int messageOffset;
    private final int receivedOffset;
    private final WorkCompletions completions = WorkCompletions.allocate(BATCH);
    // used by the writer
    @SuppressWarnings("NullAway.Init")
    private MessageSender data;
    @SuppressWarnings("NullAway.Init")
    private MessageSender inline;
    // used with the lock of the stream held
    @SuppressWarnings("NullAway.Init")
    private MessageSender control;
    private final ReceiveRequests receives = ReceiveRequests.allocate(BATCH, 1);
    private final int mostOwed;
    private int owedReceives;
    private int nextReceive;
    private int controlSlot;
    private final boolean accepting;
    private boolean closed;

    private StreamQueues(DeviceResources device, StreamSettings settings, boolean accepting,
            @Nullable StreamLoop shared, Loop.@Nullable Member member) {
        this.shared = shared;
        this.member = member;
        this.device = device;
        this.settings = settings;
        this.accepting = accepting;
        this.sendQueueSize = queueSize(device, settings.sendQueueSize());
        this.receiveQueueSize = queueSize(device, settings.receiveQueueSize());
        // so that both halves begin at a cache line
        this.receiveBufferSize = settings.receiveBufferSize() / (2 * LINE) * (2 * LINE);
        this.mapsOffset = SendWindow.TARGETS * TARGET_SIZE;
        this.bufferOffset = aligned(mapsOffset + settings.mapSlots() * MAP_SIZE);
        this.inlineOffset = aligned(settings.sendBufferSize());
        this.controlOffset = inlineOffset + aligned(settings.inlineSize());
        this.messageOffset = controlOffset + CONTROLS * TARGET_SIZE;
        this.receivedOffset = messageOffset + aligned(SENDERS * MessageSender.LENGTH);
        this.mostOwed = Math.clamp(receiveQueueSize / 8, 1, BATCH);
        this.receiveCount = receiveQueueSize + (device.isIwarp() ? CREDITLESS + mostOwed : 0);
        for (int i = 0; i < BATCH; i++) {
            receives.get(i).id(RECEIVE).noData();
        }
    }

    /** Returns how many messages a queue can hold, given a wish. */
    private static int queueSize(DeviceResources device, int wanted) {
        int most = Math.min(device.maxRequests(), device.maxCompletions() / 2);
        // on iWARP, a message may be two requests
        return Math.min(wanted, device.isIwarp() ? most / 3 : most);
    }

    boolean isIwarp() {
        return device.isIwarp();
    }

    private static int aligned(int offset) {
        return (offset + LINE - 1) / LINE * LINE;
    }

    /**
     * Creates everything for an id that is bound to a device, and posts the receives.
     *
     * @param shared where the completions arrive, null for a queue of the stream's own
     * @param member who takes the completions that arrive there
     */
    static StreamQueues create(CmId id, StreamSettings settings, @Nullable StreamLoop shared,
            Loop.@Nullable Member member) throws RdmaException {
        try (Parts parts = new Parts()) {
            DeviceResources device = parts.add(DeviceResources.acquire(id), DeviceResources::release);
            StreamQueues queues = new StreamQueues(device, settings, id.state() == CmIdState.REQUESTED, shared, member);
            // They release the device themselves.
            parts.complete(device);
            parts.add(queues, StreamQueues::close);
            queues.make(id);
            return parts.complete(queues);
        }
    }

    private void make(CmId id) throws RdmaException {
        if (settings.ackTimeout().isPresent()) {
            id.options().ackTimeout(settings.ackTimeout().get());
        }
        boolean sends = device.isIwarp();
        int requests = sends ? 2 * sendQueueSize : sendQueueSize;
        createCompletionQueue(requests + receiveCount);
        pair = id.createQueuePair(device.domain(), QueuePairInitAttributes.builder().completionQueue(completionQueue)
                .maxSendRequests(requests).maxReceiveRequests(receiveCount).maxSendScatterGather(2)
                .maxReceiveScatterGather(1)
                .maxInlineData(Math.max(settings.inlineSize(), sends ? MessageSender.LENGTH : 0)).build());
        if (joined != null) {
            number = pair.number();
            joined.loop().add(number, Objects.requireNonNull(member));
        }
        inlineSize = Math.min(settings.inlineSize(), pair.capabilities().maxInlineData());
        if (sends && pair.capabilities().maxInlineData() < MessageSender.LENGTH) {
            throw new RdmaUnsupportedException("rsocket", 0, "", "streams over iWARP need inline data, which "
                    + device.context().deviceName() + " does not have");
        }
        takeMemory(sends);
        data = new MessageSender(pair, sends, 2, sendSlice, messageOffset);
        inline = new MessageSender(pair, sends, 1, sendSlice, messageOffset + MessageSender.LENGTH);
        control = new MessageSender(pair, sends, 1, sendSlice, messageOffset + 2 * MessageSender.LENGTH);
        inline.write().inline(true);
        for (int left = receiveCount; left > 0; left -= BATCH) {
            postReceives(Math.min(left, BATCH));
        }
    }

    private void createCompletionQueue(int completed) throws RdmaException {
        if (shared == null) {
            channel = device.context().createCompletionChannel();
            completionQueue = device.context().createCompletionQueue(completed, channel);
        } else {
            joined = shared.join(device.context(), device.maxCompletions());
            completionQueue = joined.loop().reserve(completed, StreamLoop.EXPECTED_COMPLETIONS);
            reserved = completed;
        }
    }

    private void takeMemory(boolean sends) throws RdmaException {
        sendSlice = device.take(sends ? receivedOffset + aligned(receiveCount * MessageSender.LENGTH)
                : messageOffset + aligned(SENDERS * MessageSender.LENGTH), false);
        receiveSlice = device.take(aligned(bufferOffset + receiveBufferSize), true);
        sendRegion = sendSlice.region();
        sendBase = sendSlice.offset();
        receiveAddress = receiveSlice.region().remoteAddress() + receiveSlice.offset();
        receiveKey = receiveSlice.region().remoteKey();
        sendMemory = sendSlice.memory();
        receiveMemory = receiveSlice.memory();
        sendBytes = sendMemory.asByteBuffer();
        receiveBytes = receiveMemory.asByteBuffer();
        // The targets of a former peer would lead this stream's data to it. Nor may a peer that announces more than it
        // has written make this side read what a former one has sent.
        receiveMemory.fill((byte) 0);
    }

    /** Returns what the peer is told. */
    ConnectData connectData() {
        return new ConnectData(ConnectData.isBigEndianHere(), receiveQueueSize, settings.mapSlots(),
                receiveAddress, SendWindow.TARGETS, receiveKey, receiveAddress + bufferOffset, receiveBufferSize / 2,
                receiveKey);
    }

    /** Returns how many reads the connection has to allow: iWARP devices may use one to begin it. */
    int reads() {
        return device.isIwarp() ? 1 : 0;
    }

    /** Returns whether the peer must have sent something before this side may. */
    boolean listensFirst() {
        return accepting && device.isIwarp();
    }

    SendWindow newSendWindow(ConnectData peer) {
        return new SendWindow(peer, device.isIwarp() ? CREDITLESS : 0, listensFirst());
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
            postReceives(owedReceives);
            owedReceives = 0;
        }
    }

    private void postReceives(int count) throws RdmaException {
        if (device.isIwarp()) {
            for (int i = 0; i < count; i++) {
                receives.get(i).id(RECEIVE | nextReceive).data(sendRegion,
                        sendBase + receivedOffset + (long) nextReceive * MessageSender.LENGTH, MessageSender.LENGTH);
                nextReceive = nextReceive + 1 == receiveCount ? 0 : nextReceive + 1;
            }
        }
        pair.postReceive(receives, 0, count);
    }

    /** Returns the message of a receive that has completed. */
    int message(WorkCompletions completion) throws StreamProtocolException {
        if (completion.hasImmediate()) {
            return completion.immediate();
        }
        if (!device.isIwarp()) {
            throw new StreamProtocolException("it sent a message without an immediate value");
        }
        if (completion.byteLength() != MessageSender.LENGTH) {
            throw new StreamProtocolException("it sent a message of " + completion.byteLength() + " bytes");
        }
        return sendMemory.get(INT, receivedOffset + (completion.workRequestId() & ~RECEIVE) * MessageSender.LENGTH);
    }

    /** Copies bytes out of the receive buffer, which may wrap. */
    void copyOut(int offset, MemorySegment target, int length) {
        int first = Math.min(length, receiveBufferSize - offset);
        MemorySegment.copy(receiveMemory, (long) bufferOffset + offset, target, 0, first);
        if (first < length) {
            MemorySegment.copy(receiveMemory, bufferOffset, target, first, length - first);
        }
    }

    /** Copies bytes out of the receive buffer, which may wrap. The position of the target is left as it is. */
    void copyOut(int offset, ByteBuffer target, int targetIndex, int length) {
        int first = Math.min(length, receiveBufferSize - offset);
        target.put(targetIndex, receiveBytes, bufferOffset + offset, first);
        if (first < length) {
            target.put(targetIndex + first, receiveBytes, bufferOffset, length - first);
        }
    }

    /** Copies bytes to the send buffer, which may wrap, or to {@link #inlineOffset()}. */
    void copyIn(MemorySegment source, long sourceOffset, int offset, int length) {
        int first = beforeWrap(offset, length);
        MemorySegment.copy(source, sourceOffset, sendMemory, offset, first);
        if (first < length) {
            MemorySegment.copy(source, sourceOffset + first, sendMemory, 0, length - first);
        }
    }

    /** Copies bytes to the send buffer, which may wrap, or to {@link #inlineOffset()}. */
    void copyIn(ByteBuffer source, int sourceIndex, int offset, int length) {
        int first = beforeWrap(offset, length);
        sendBytes.put(offset, source, sourceIndex, first);
        if (first < length) {
            sendBytes.put(0, source, sourceIndex + first, length - first);
        }
    }

    private int beforeWrap(int offset, int length) {
        int size = settings.sendBufferSize();
        return offset >= size ? length : Math.min(length, size - offset);
    }

    /** Returns where inline data are copied to, as an offset of the send buffer. */
    int inlineOffset() {
        return inlineOffset;
    }

    /** Writes the inline data that were copied to the peer, with a message. */
    void postInline(int length, long number, boolean signal, long address, int key, int message)
            throws RdmaException {
        inline.write().data(sendRegion, sendBase + inlineOffset, length);
        inline.post(number, signal, address, key, message);
    }

    /** Writes bytes of the send buffer, which may wrap, to the peer, with a message. */
    void postBuffered(int offset, int length, long number, boolean signal, long address, int key, int message)
            throws RdmaException {
        setBuffered(offset, length);
        data.post(number, signal, address, key, message);
    }

    /** Writes bytes of the send buffer, which may wrap, to the peer, who is not told. */
    void postWithoutImmediate(int offset, int length, long number, boolean signal, long address, int key)
            throws RdmaException {
        setBuffered(offset, length);
        data.postWithoutImmediate(number, signal, address, key);
    }

    private void setBuffered(int offset, int length) {
        int first = Math.min(length, settings.sendBufferSize() - offset);
        SendRequest write = data.write().data(sendRegion, sendBase + offset, first);
        if (first < length) {
            write.data(1, sendRegion, sendBase, length - first);
        }
    }

    /** Writes bytes of the program to the peer, with a message. */
    void postLent(MemoryRegion region, long offset, int length, long number, boolean signal, long address, int key,
            int message) throws RdmaException {
        data.write().data(region, offset, length);
        data.post(number, signal, address, key, message);
    }

    /** Sends a message without data. */
    void postControl(int message) throws RdmaException {
        control.post(CONTROL | Integer.toUnsignedLong(message), message);
    }

    /** Writes nothing to the peer, which fails if the peer cannot be reached. */
    void postKeepAlive() throws RdmaException {
        int message = StreamMessage.of(StreamMessage.CONTROL, StreamMessage.KEEP_ALIVE);
        control.write().noData().inline(false);
        control.postWithoutImmediate(CONTROL | Integer.toUnsignedLong(message), true, 0, 0);
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
        writeTarget(sendMemory, slot, receiveAddress + bufferOffset + offset, receiveKey, length, swap);
        control.write().data(sendRegion, sendBase + slot, TARGET_SIZE).inline(inlineSize >= TARGET_SIZE);
        control.post(CONTROL | Integer.toUnsignedLong(message), true,
                peer.targets() + (long) index * TARGET_SIZE, peer.targetKey(), message);
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
            if (joined != null) {
                joined.loop().remove(number, Objects.requireNonNull(member));
            }
        }
    }

    /** Frees everything. Has no effect when called again. */
    synchronized void close() throws RdmaException {
        if (closed) {
            return;
        }
        closePair();
        if (receiveSlice != null && receiveSlice.isOpen()) {
            device.giveBack(receiveSlice, true);
        }
        if (sendSlice != null && sendSlice.isOpen()) {
            device.giveBack(sendSlice, false);
        }
        if (shared != null) {
            leave(shared);
        } else if (completionQueue != null) {
            completionQueue.close();
        }
        if (channel != null) {
            channel.close();
        }
        closed = true;
        device.release();
    }

    private void leave(StreamLoop loop) throws RdmaException {
        StreamLoop.DeviceLoop left = joined;
        joined = null;
        if (left != null) {
            if (completionQueue != null) {
                left.loop().release(completionQueue, reserved);
            }
            loop.leave(left);
        }
    }
}
