// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;

import io.rdmacm.core.CmId;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/**
 * One side of a connection, as a server has it: Valkey's protocol on a queue pair, written from its description and
 * apart from {@link RdmaStream}, so that the two check each other.
 */
final class QueuePairStream implements ByteStream {
    static final int GET_FEATURES = 0;
    static final int SET_FEATURES = 1;
    static final int KEEPALIVE = 2;
    static final int REGISTER = 3;
    static final int CONTROL = 32;

    private static final Duration TIMEOUT = Duration.ofMinutes(4);
    private static final int REQUESTS = 256;

    private final Resources resources = new Resources();
    private final CmId id;
    private final CompletionQueue queue;
    private final QueuePair pair;
    private final MemoryRegion controls;
    private final MemoryRegion in;
    private final ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0);
    private final SendRequest send = SendRequests.allocate(1, 1).get(0);
    private final WorkCompletions completions = WorkCompletions.allocate(REQUESTS);
    // as large as the peer's memory; null until that is known
    private MemoryRegion out;
    private long peerAddress;
    private int peerKey;
    private int written;
    private int arrived;
    private int read;
    private int sending;

    /** Creates the queue pair of an id that is about to be accepted. */
    QueuePairStream(CmId id, int bufferBytes) throws IOException {
        this.id = resources.add(id);
        ProtectionDomain domain = resources.add(id.context().allocateProtectionDomain());
        queue = resources.add(id.context().createCompletionQueue(2 * REQUESTS,
                resources.add(id.context().createCompletionChannel())));
        // one slot for each receive, and one for what is sent
        controls = resources.add(domain.allocate((REQUESTS + 1) * CONTROL, AccessFlag.LOCAL_WRITE));
        in = resources.add(domain.allocate(bufferBytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
        pair = resources.add(id.createQueuePair(domain, QueuePairInitAttributes.builder().completionQueue(queue)
                .maxSendRequests(REQUESTS).maxReceiveRequests(REQUESTS).build()));
        for (int slot = 0; slot < REQUESTS; slot++) {
            postReceive(slot);
        }
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException, InterruptedException {
        while (bytes.hasRemaining()) {
            while (out == null || written == out.length()) {
                handleCompletions();
            }
            int length = (int) Math.min(bytes.remaining(), out.length() - written);
            out.memory().asSlice(written, length).asByteBuffer().put(bytes.slice(bytes.position(), length));
            bytes.position(bytes.position() + length);
            send.rdmaWriteWithImmediate(peerAddress + written, peerKey, length).data(out, written, length);
            written += length;
            postSend();
        }
    }

    @Override
    public void read(ByteBuffer target) throws IOException, InterruptedException {
        if (read == in.length()) {
            register();
        }
        while (read == arrived) {
            handleCompletions();
        }
        int length = Math.min(target.remaining(), arrived - read);
        target.put(in.memory().asSlice(read, length).asByteBuffer());
        read += length;
    }

    /** Ends the connection. */
    void disconnect() throws IOException {
        id.disconnect();
    }

    @Override
    public void close() throws IOException {
        resources.close();
    }

    /** Tells the peer to write to the whole buffer, from its beginning. */
    void register() throws IOException, InterruptedException {
        arrived = 0;
        read = 0;
        control(ByteBuffer.allocate(CONTROL).putShort(0, (short) REGISTER).putLong(16, in.remoteAddress())
                .putInt(24, (int) in.length()).putInt(28, in.remoteKey()).array());
    }

    /** Sends a control message, or what should have been one. */
    void control(byte[] message) throws IOException, InterruptedException {
        while (sending > 0) {
            handleCompletions();
        }
        MemorySegment.copy(message, 0, controls.memory(), ValueLayout.JAVA_BYTE, (long) REQUESTS * CONTROL,
                message.length);
        send.send().data(controls, (long) REQUESTS * CONTROL, message.length);
        postSend();
        while (sending > 0) {
            handleCompletions();
        }
    }

    private void postSend() throws IOException, InterruptedException {
        while (sending == REQUESTS) {
            handleCompletions();
        }
        pair.postSend(send.id(REQUESTS).signaled(true));
        sending++;
    }

    private void postReceive(long slot) throws IOException {
        pair.postReceive(receive.id(slot).data(controls, slot * CONTROL, CONTROL));
    }

    private void handleCompletions() throws IOException, InterruptedException {
        queue.await(completions, TIMEOUT);
        while (completions.next()) {
            if (completions.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
                throw new EOFException("the client has disconnected");
            }
            completions.check();
            long slot = completions.workRequestId();
            if (slot == REQUESTS) {
                sending--;
            } else if (completions.opcode() == WorkCompletionOpcode.RECV_RDMA_WITH_IMM) {
                if (completions.immediate() != completions.byteLength()) {
                    throw new IOException("a write of " + completions.byteLength() + " bytes says "
                            + completions.immediate());
                }
                arrived += completions.immediate();
                postReceive(slot);
            } else {
                byte[] message = new byte[completions.byteLength()];
                MemorySegment.copy(controls.memory(), ValueLayout.JAVA_BYTE, slot * CONTROL, message, 0,
                        message.length);
                postReceive(slot);
                controlReceived(ByteBuffer.wrap(message).order(ByteOrder.BIG_ENDIAN));
            }
        }
    }

    private void controlReceived(ByteBuffer message) throws IOException {
        if (message.remaining() != CONTROL) {
            throw new IOException("a control message of " + message.remaining() + " bytes");
        }
        switch (message.getShort(0)) {
            case KEEPALIVE -> { }
            case REGISTER -> {
                peerAddress = message.getLong(16);
                peerKey = message.getInt(28);
                written = 0;
                if (out == null || out.length() != message.getInt(24)) {
                    out = resources.add(pair.protectionDomain().allocate(message.getInt(24)));
                }
            }
            default -> throw new IOException("an unexpected control message " + message.getShort(0));
        }
    }
}
