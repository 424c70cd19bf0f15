// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;

/** One side of the connection: its queue pair, one buffer, and the steps that are the same for both sides. */
final class RcSide {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int FIRST_PACKET = 0;
    // 256 bytes, which every port can. The smaller active MTU of the two ports would be faster.
    private static final int PATH_MTU = 256;
    // How long the peer waits when it finds no receive posted.
    private static final RnrTimer RNR_TIMER = RnrTimer.atLeast(Duration.ofNanos(640_000));
    // How long an acknowledgement is waited for before a packet is sent again: 1.07 s is the next that C has a code of.
    private static final AckTimeout ACK_TIMEOUT = AckTimeout.atLeast(Duration.ofSeconds(1));
    private static final int RETRIES = 6;
    private static final int READS_AT_A_TIME = 1;

    private final QueuePair pair;
    private final MemoryRegion buffer;
    private final TcpPeer peer;
    private final WorkCompletions completions = WorkCompletions.allocate(1);
    private final SendRequest request = SendRequests.allocate(1, 1).get(0);

    RcSide(QueuePair pair, MemoryRegion buffer, TcpPeer peer) {
        this.pair = pair;
        this.buffer = buffer;
        this.peer = peer;
    }

    /** RESET to INIT: the queue pair is bound to its port, and receives can be posted. */
    void init(int port) throws RdmaException {
        pair.modify(QueuePairTransitions.Rc.resetToInit(port, 0, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_WRITE));
    }

    /** INIT to RTR, ready to receive: the queue pair learns who its peer is, and by which path. */
    void readyToReceive(AddressAttributes path, int peerQueuePair) throws RdmaException {
        pair.modify(QueuePairTransitions.Rc.initToRtr(path, PATH_MTU, peerQueuePair, FIRST_PACKET, READS_AT_A_TIME,
                RNR_TIMER));
    }

    /** RTR to RTS, ready to send: what to do when no answer comes. */
    void readyToSend() throws RdmaException {
        pair.modify(QueuePairTransitions.Rc.rtrToRts(FIRST_PACKET, ACK_TIMEOUT, RETRIES, RETRIES, READS_AT_A_TIME));
    }

    /** From now on, whatever is posted when the peer dies completes with WR_FLUSH_ERR, instead of never. */
    void watchPeer() {
        peer.gone().thenRun(this::flush);
    }

    /** Makes room for one message: before the peer sends it. */
    void postReceive() throws RdmaException {
        pair.postReceive(ReceiveRequests.allocate(1, 1).get(0).data(buffer, 0, (int) buffer.length()));
    }

    /** Sends the buffer. */
    void postSend() throws RdmaException {
        post(request.send());
    }

    /** Reads the peer's buffer into this one; the peer does nothing for it. */
    void postRead(RcAddress remote) throws RdmaException {
        post(request.rdmaRead(remote.memory(), remote.key()));
    }

    /** Writes this buffer into the peer's; the peer does nothing for it, and is not told. */
    void postWrite(RcAddress remote) throws RdmaException {
        post(request.rdmaWrite(remote.memory(), remote.key()));
    }

    /** Waits until what was posted is done, the sends as well as the receive. */
    void awaitCompletion() throws IOException, InterruptedException {
        // In C: poll a while, or arm the queue, poll once more, and wait for the channel's event. This does the latter.
        pair.sendQueue().await(completions, PATIENCE);
        completions.next();
        if (!completions.succeeded() && peer.gone().isDone()) {
            throw new IOException("the peer has gone, in the middle of the example");
        }
        completions.check();
    }

    /** What is in the buffer. */
    String text() {
        return buffer.memory().getString(0);
    }

    /** Puts a text into the buffer. */
    void text(String text) {
        buffer.memory().fill((byte) 0).setString(0, text);
    }

    private void post(SendRequest ready) throws RdmaException {
        pair.postSend(ready.data(buffer, 0, (int) buffer.length()));
    }

    /** By the thread that reads from TCP. */
    private void flush() {
        try {
            pair.modifyToError();
        } catch (RdmaException | IllegalStateException e) {
            // The program is through, and has closed the queue pair: nobody waits for it.
            return;
        }
    }
}
