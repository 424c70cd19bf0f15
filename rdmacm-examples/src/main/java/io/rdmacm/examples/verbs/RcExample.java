// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;
import picocli.CommandLine.Command;

/**
 * The command {@code rc_example}, after section 7.1 of the <cite>RDMA Aware Networks Programming User Manual</cite>: a
 * reliable connection without the connection manager. The two sides exchange their addresses over TCP, move their
 * queue pairs from state to state, and then try what such a connection can do: a send into a receive, a read and a
 * write of the other side's memory.
 */
@Command(name = "rc_example", header = "Send, receive, RDMA read and write without a connection manager.",
        description = "Without HOST it runs as the server. The two sides find each other over TCP.",
        footer = {"%nFor example, a server, and a client on another machine, with GID 1 of their ports:",
            "  rdmacm rc_example -g 1", "  rdmacm rc_example -g 1 192.168.99.1"})
final class RcExample extends PairProgram {
    private static final int PORT = 19_875;
    private static final int BUFFER = 64;
    // 256 bytes, which every port supports. The smaller active MTU of the two ports would be faster.
    private static final int PATH_MTU = 256;
    // how long the peer waits before it retries a send that found no receive
    private static final RnrTimer RNR_TIMER = RnrTimer.atLeast(Duration.ofNanos(640_000));
    // how long to wait for an acknowledgement before a packet is retransmitted; rounded up to the next code, 1.07 s
    private static final AckTimeout ACK_TIMEOUT = AckTimeout.atLeast(Duration.ofSeconds(1));
    private static final int RETRIES = 6;
    private static final int READS_AT_A_TIME = 1;
    private static final AccessFlag[] ACCESS = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
        AccessFlag.REMOTE_WRITE};

    private final WorkCompletions completions = WorkCompletions.allocate(1);
    private final SendRequest request = SendRequests.allocate(1, 1).get(0);
    private QueuePair pair;
    private MemoryRegion buffer;
    private TcpPeer peer;

    RcExample() {
        super(PORT);
    }

    /** Creates all resources in the heads of the tries; they are closed in reverse order at their ends. */
    @Override
    protected void run() throws IOException, InterruptedException {
        checkOptions();
        try (VerbsContext context = openDevice();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionChannel events = context.createCompletionChannel();
                CompletionQueue queue = context.createCompletionQueue(2, events);
                MemoryRegion region = domain.allocate(BUFFER, ACCESS);
                QueuePair created = domain.createQueuePair(QueuePairInitAttributes.builder().completionQueue(queue)
                        .maxSendRequests(1).maxReceiveRequests(1).build())) {
            pair = created;
            buffer = region;
            Destination own = destination(pair);
            print("created " + pair + ", and a buffer of " + BUFFER + " bytes");
            try (TcpPeer connected = connectTcp()) {
                peer = connected;
                connect(own);
                if (isClient()) {
                    use(RemoteMemory.of(peer.receive(RemoteMemory.BYTES, "where its memory is")));
                } else {
                    peer.send(new RemoteMemory(buffer.remoteAddress(), buffer.remoteKey()).toText());
                    serve();
                }
            }
        }
    }

    /** Moves the queue pair from RESET, in which it can do nothing, to RTS, in which it can send and receive. */
    private void connect(Destination own) throws IOException, InterruptedException {
        print("this side: " + own);
        peer.send(own.toText());
        Destination remote = Destination.of(peer.receive(Destination.BYTES, "its whole address"));
        print("the peer:  " + remote);

        // RESET to INIT: binds the queue pair to its port.
        pair.modify(QueuePairTransitions.Rc.resetToInit(devicePort(), 0, ACCESS));
        if (isClient()) {
            // Receives can be posted from INIT on. This one must be posted before the server sends.
            pair.postReceive(ReceiveRequests.allocate(1, 1).get(0).data(buffer, 0, BUFFER));
        }
        // INIT to RTR, ready to receive: sets the peer and the path to it.
        pair.modify(QueuePairTransitions.Rc.initToRtr(pathTo(remote), PATH_MTU, remote.queuePair(),
                remote.packetNumber(), READS_AT_A_TIME, RNR_TIMER));
        // RTR to RTS, ready to send: sets the timeout and the number of retries.
        pair.modify(QueuePairTransitions.Rc.rtrToRts(own.packetNumber(), ACK_TIMEOUT, RETRIES, RETRIES,
                READS_AT_A_TIME));
        // The first message must not arrive before the other side is ready to receive.
        sync('Q');
        print("connected: " + pair.state());
    }

    private void serve() throws IOException, InterruptedException {
        text("sent by the server");
        post(request.send());
        print("sent: " + text());

        // The client reads this next. The server does not notice when, so it leaves the buffer alone until step W.
        text("put there by the server, to be read");
        sync('R');
        sync('W');
        print("written by the client: " + text());
    }

    private void use(RemoteMemory remote) throws IOException, InterruptedException {
        awaitCompletion();
        print("received: " + text());

        // Reads and writes need no action of the peer, which does not notice them either.
        sync('R');
        post(request.rdmaRead(remote.address(), remote.key()));
        print("read from the server: " + text());

        text("put there by the client, with a write");
        post(request.rdmaWrite(remote.address(), remote.key()));
        print("wrote: " + text());
        sync('W');
    }

    /** Posts a request for the whole buffer, and waits until it has completed. */
    private void post(SendRequest ready) throws IOException, InterruptedException {
        pair.postSend(ready.data(buffer, 0, BUFFER));
        awaitCompletion();
    }

    private void awaitCompletion() throws IOException, InterruptedException {
        // In C: poll for a while, or arm the queue, poll once more, and wait for an event. This does the latter.
        pair.sendQueue().await(completions, timeout());
        completions.next();
        completions.check();
    }

    /** Waits until the peer has reached the same step. */
    private void sync(char step) throws IOException, InterruptedException {
        peer.send("" + step);
        String theirs = peer.receive(1, "that it has reached step " + step);
        if (theirs.charAt(0) != step) {
            throw new IOException("this side is at step " + step + ", the peer at step " + theirs);
        }
    }

    private String text() {
        return buffer.memory().getString(0);
    }

    private void text(String text) {
        buffer.memory().fill((byte) 0).setString(0, text);
    }
}
