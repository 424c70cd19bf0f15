// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

import io.rdmacm.examples.support.Console;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.mlx5.DcTransitions;
import io.rdmacm.verbs.mlx5.Mlx5Batch;
import io.rdmacm.verbs.mlx5.Mlx5QueuePair;
import io.rdmacm.verbs.mlx5.Mlx5QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * The command {@code dc_example}, for appendix A of the manual: the dynamically connected transport. One initiator of
 * the client sends to two targets of the server, reliably and without a connection to either: each request names its
 * target. With RC that takes two queue pairs on each side.
 *
 * <p>Not run on a card: the tests run it over a stand-in for the kernel and the card.
 */
@Command(name = "dc_example", sortOptions = false,
        header = "One queue pair that sends to two others: the dynamically connected transport of mlx5.",
        description = "Without SERVER it runs as the server. The two sides find each other over TCP.",
        footer = {"%nFor example, a server, and a client on another machine:",
            "  rdmacm dc_example -d mlx5_0", "  rdmacm dc_example -d mlx5_0 192.168.99.1"})
public final class DcExample implements Callable<Integer> {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int MESSAGE = 64;
    private static final int TARGETS = 2;
    // 256 bytes, which every port supports
    private static final int PATH_MTU = 256;
    // The key of the first target. Who does not know it cannot send to the target.
    private static final long KEY = 0x6b657920666f7200L;

    @Mixin
    private PeerOptions options;

    private Console console;

    /** Created by picocli. */
    public DcExample() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        console = options.start();
        Device device = options.mlx5Device();
        options.print(console, device);
        try (TcpPeer peer = options.connectTcp(console);
                VerbsContext context = device.open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionChannel events = context.createCompletionChannel();
                CompletionQueue queue = context.createCompletionQueue(TARGETS, events);
                MemoryRegion buffer = domain.allocate(TARGETS * MESSAGE, AccessFlag.LOCAL_WRITE)) {
            PeerOptions.PortAddress own = options.address(context);
            if (options.isServer()) {
                receive(peer, own, queue, buffer);
            } else {
                send(peer, own, queue, buffer);
            }
            // Neither side leaves before the other one is done.
            peer.sync('D');
        }
        return 0;
    }

    private void receive(TcpPeer peer, PeerOptions.PortAddress own, CompletionQueue queue, MemoryRegion buffer)
            throws IOException, InterruptedException {
        ProtectionDomain domain = buffer.protectionDomain();
        // Targets have no receive queue of their own.
        try (SharedReceiveQueue receives = domain.createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().maxRequests(TARGETS).build());
                Mlx5QueuePair first = target(domain, queue, receives, KEY);
                Mlx5QueuePair second = target(domain, queue, receives, KEY + 1)) {
            ReceiveRequests requests = ReceiveRequests.allocate(TARGETS, 1);
            for (int i = 0; i < TARGETS; i++) {
                requests.get(i).id(i).data(buffer, (long) i * MESSAGE, MESSAGE);
            }
            // The initiator may send as soon as it knows the targets.
            receives.postReceive(requests, 0, TARGETS);
            for (Mlx5QueuePair target : List.of(first, second)) {
                target.queuePair().modify(DcTransitions.Target.resetToInit(options.devicePort(), 0));
                target.queuePair().modify(DcTransitions.Target.initToRtr(options.path(own, own.lid(), own.gid()),
                        PATH_MTU, RnrTimer.atLeast(Duration.ofNanos(640_000))));
            }
            tell(peer, new DcTarget(KEY, first.number(), own.lid(), own.gid()));
            tell(peer, new DcTarget(KEY + 1, second.number(), own.lid(), own.gid()));

            WorkCompletions completions = WorkCompletions.allocate(1);
            for (int i = 0; i < TARGETS; i++) {
                await(queue, completions);
                console.print(String.format("target 0x%x received: %s", completions.queuePairNumber(),
                        buffer.memory().getString(completions.workRequestId() * MESSAGE)));
            }
        }
    }

    private static Mlx5QueuePair target(ProtectionDomain domain, CompletionQueue queue, SharedReceiveQueue receives,
            long key) throws RdmaException {
        return Mlx5QueuePair.create(domain, Mlx5QueuePairAttributes.target(QueuePairInitAttributes.builder()
                .type(QueuePairType.DRIVER).completionQueue(queue).sharedReceiveQueue(receives).maxSendRequests(0)
                .build(), key));
    }

    private void send(TcpPeer peer, PeerOptions.PortAddress own, CompletionQueue queue, MemoryRegion buffer)
            throws IOException, InterruptedException {
        ProtectionDomain domain = buffer.protectionDomain();
        try (Mlx5QueuePair initiator = Mlx5QueuePair.create(domain, Mlx5QueuePairAttributes.initiator(
                QueuePairInitAttributes.builder().type(QueuePairType.DRIVER).completionQueue(queue)
                        .maxSendRequests(TARGETS).maxReceiveRequests(0).maxReceiveScatterGather(0)
                        .sendOperations(List.of(SendOperation.SEND)).build()))) {
            initiator.queuePair().modify(DcTransitions.Initiator.resetToInit(options.devicePort(), 0));
            initiator.queuePair().modify(DcTransitions.Initiator.initToRtr(PATH_MTU));
            initiator.queuePair().modify(DcTransitions.Initiator.rtrToRts(0,
                    AckTimeout.atLeast(Duration.ofSeconds(1)), 6, 6, 1));
            DcTarget unused = new DcTarget(0, 0, own.lid(), own.gid());
            List<DcTarget> targets = List.of(exchange(peer, unused), exchange(peer, unused));

            // Both targets are at the same port; those of different ports need a handle for each port.
            try (AddressHandle handle = domain.createAddressHandle(options.path(own, targets.getFirst().lid(),
                    targets.getFirst().gid())); Mlx5Batch batch = initiator.startBatch()) {
                for (int i = 0; i < TARGETS; i++) {
                    DcTarget target = targets.get(i);
                    buffer.memory().setString((long) i * MESSAGE, "message " + (i + 1) + " of one initiator");
                    batch.requests().id(i).send();
                    batch.target(handle, target.number(), target.key());
                    batch.requests().data(buffer, (long) i * MESSAGE, MESSAGE);
                }
                batch.complete();
                WorkCompletions completions = WorkCompletions.allocate(1);
                for (int i = 0; i < TARGETS; i++) {
                    await(queue, completions);
                    console.print("sent: " + buffer.memory().getString(completions.workRequestId() * MESSAGE));
                }
            }
        }
    }

    private void tell(TcpPeer peer, DcTarget target) throws IOException, InterruptedException {
        exchange(peer, target);
        console.print("this side: " + target);
    }

    private DcTarget exchange(TcpPeer peer, DcTarget own) throws IOException, InterruptedException {
        DcTarget target = DcTarget.of(peer.exchange(own.toBytes()));
        if (!options.isServer()) {
            console.print("the peer:  " + target);
        }
        return target;
    }

    private static void await(CompletionQueue queue, WorkCompletions completions)
            throws RdmaException, InterruptedException {
        queue.await(completions, TIMEOUT);
        completions.next();
        completions.check();
    }
}
