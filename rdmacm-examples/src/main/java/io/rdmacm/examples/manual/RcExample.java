// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.util.concurrent.Callable;

import io.rdmacm.examples.support.Console;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.work.AccessFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * The command {@code rc_example}, from the manual (7.1): a reliable connection without the connection manager. The two
 * sides exchange their addresses over TCP, move their queue pairs from state to state, and then try what such a
 * connection can do: a send into a receive, a read and a write of the other side's memory.
 */
@Command(name = "rc_example", sortOptions = false,
        header = "Send, receive, RDMA read and write without a connection manager.",
        description = "Without SERVER it runs as the server. The two sides find each other over TCP.",
        footer = {"%nFor example, a server, and a client on another machine:",
            "  rdmacm rc_example -d mlx5_0", "  rdmacm rc_example -d mlx5_0 192.168.99.1"})
public final class RcExample implements Callable<Integer> {
    private static final int BUFFER = 64;
    private static final int QUEUE = 4;

    @Mixin
    private PeerOptions options;

    private Console console;

    /** Created by picocli. */
    public RcExample() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        console = options.start();
        Device device = options.device();
        options.print(console, device);
        try (TcpPeer peer = options.connectTcp(console)) {
            run(device, peer);
        }
        return 0;
    }

    /** Creates all resources in the head of the try; they are closed in reverse order at its end. */
    private void run(Device device, TcpPeer peer) throws IOException, InterruptedException {
        try (VerbsContext context = device.open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionChannel events = context.createCompletionChannel();
                CompletionQueue queue = context.createCompletionQueue(QUEUE, events);
                MemoryRegion buffer = domain.allocate(BUFFER, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_WRITE);
                QueuePair pair = domain.createQueuePair(QueuePairInitAttributes.builder().completionQueue(queue)
                        .maxSendRequests(1).maxReceiveRequests(1).build())) {
            console.print("created " + pair + ", and a buffer of " + BUFFER + " bytes");
            RcSide side = new RcSide(pair, buffer, peer);
            RcAddress remote = connect(context, side, buffer, pair, peer);
            if (options.isServer()) {
                serve(side, peer);
            } else {
                use(side, peer, remote);
            }
        }
    }

    /** Moves the queue pair from RESET, in which it can do nothing, to RTS, in which it can send and receive. */
    private RcAddress connect(VerbsContext context, RcSide side, MemoryRegion buffer, QueuePair pair, TcpPeer peer)
            throws IOException, InterruptedException {
        PeerOptions.PortAddress own = options.address(context);
        RcAddress local = new RcAddress(buffer.remoteAddress(), buffer.remoteKey(), pair.number(), own.lid(),
                own.gid());
        console.print("this side: " + local);
        RcAddress remote = RcAddress.of(peer.exchange(local.toBytes()));
        console.print("the peer:  " + remote);

        side.init(options.devicePort());
        if (!options.isServer()) {
            // Receives can be posted from INIT on. This one must be posted before the server sends.
            side.postReceive();
        }
        side.readyToReceive(options.path(own, remote.lid(), remote.gid()), remote.queuePair());
        side.readyToSend();
        // The first message must not arrive before the other side is ready to receive.
        peer.sync('Q');
        side.watchPeer();
        console.print("connected: " + pair.state());
        return remote;
    }

    private void serve(RcSide side, TcpPeer peer) throws IOException, InterruptedException {
        side.text("sent by the server");
        side.postSend();
        side.awaitCompletion();
        console.print("sent: " + side.text());

        // The client reads this next. The server does not notice when, so it leaves the buffer alone until step W.
        side.text("put there by the server, to be read");
        peer.sync('R');
        peer.sync('W');
        console.print("written by the client: " + side.text());
    }

    private void use(RcSide side, TcpPeer peer, RcAddress remote) throws IOException, InterruptedException {
        side.awaitCompletion();
        console.print("received: " + side.text());

        peer.sync('R');
        side.postRead(remote);
        side.awaitCompletion();
        console.print("read from the server: " + side.text());

        side.text("put there by the client, with a write");
        side.postWrite(remote);
        side.awaitCompletion();
        console.print("wrote: " + side.text());
        peer.sync('W');
    }
}
