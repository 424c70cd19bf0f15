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
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int FIRST_PACKET = 0;
    // 256 bytes, which every port supports. The smaller active MTU of the two ports would be faster.
    private static final int PATH_MTU = 256;
    // how long the peer waits before it retries a send that found no receive
    private static final RnrTimer RNR_TIMER = RnrTimer.atLeast(Duration.ofNanos(640_000));
    // how long to wait for an acknowledgement before a packet is retransmitted; rounded up to the next code, 1.07 s
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

    /** RESET to INIT: binds the queue pair to its port; receives can be posted from now on. */
    void init(int port) throws RdmaException {
        pair.modify(QueuePairTransitions.Rc.resetToInit(port, 0, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_WRITE));
    }

    /** INIT to RTR, ready to receive: sets the peer and the path to it. */
    void readyToReceive(AddressAttributes path, int peerQueuePair) throws RdmaException {
        pair.modify(QueuePairTransitions.Rc.initToRtr(path, PATH_MTU, peerQueuePair, FIRST_PACKET, READS_AT_A_TIME,
                RNR_TIMER));
    }

    /** RTR to RTS, ready to send: sets the timeout and the number of retries. */
    void readyToSend() throws RdmaException {
        pair.modify(QueuePairTransitions.Rc.rtrToRts(FIRST_PACKET, ACK_TIMEOUT, RETRIES, RETRIES, READS_AT_A_TIME));
    }

    /** Makes posted requests complete with WR_FLUSH_ERR when the peer dies; otherwise they would never complete. */
    void watchPeer() {
        peer.gone().thenRun(this::flush);
    }

    /** Posts a receive for one message, to be called before the peer sends it. */
    void postReceive() throws RdmaException {
        pair.postReceive(ReceiveRequests.allocate(1, 1).get(0).data(buffer, 0, (int) buffer.length()));
    }

    /** Sends the buffer. */
    void postSend() throws RdmaException {
        post(request.send());
    }

    /** Reads the peer's buffer into this one, without any action of the peer. */
    void postRead(RcAddress remote) throws RdmaException {
        post(request.rdmaRead(remote.memory(), remote.key()));
    }

    /** Writes this buffer into the peer's, without any action of the peer, which is not notified either. */
    void postWrite(RcAddress remote) throws RdmaException {
        post(request.rdmaWrite(remote.memory(), remote.key()));
    }

    /** Waits for the next completion of a send or receive. */
    void awaitCompletion() throws IOException, InterruptedException {
        // In C: poll for a while, or arm the queue, poll once more, and wait for an event. This does the latter.
        pair.sendQueue().await(completions, TIMEOUT);
        completions.next();
        if (!completions.succeeded() && peer.gone().isDone()) {
            throw new IOException("the peer has gone in the middle of the example");
        }
        completions.check();
    }

    /** Returns the text in the buffer. */
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

    /** Flushes all requests. Called by the thread that reads from TCP. */
    private void flush() {
        try {
            pair.modifyToError();
        } catch (RdmaException | IllegalStateException e) {
            // the program has finished and closed the queue pair
            return;
        }
    }
}
