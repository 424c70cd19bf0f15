// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.Callable;

import io.rdmacm.examples.support.Console;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.mlx5.InterleavedLayout;
import io.rdmacm.verbs.mlx5.Mkey;
import io.rdmacm.verbs.mlx5.MkeyFlag;
import io.rdmacm.verbs.mlx5.Mlx5Batch;
import io.rdmacm.verbs.mlx5.Mlx5QueuePair;
import io.rdmacm.verbs.mlx5.Mlx5QueuePairAttributes;
import io.rdmacm.verbs.mlx5.Mlx5SendOperation;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * The command {@code umr_example}, for appendix C of the manual: user-mode memory registration. The client sends a
 * column of a matrix as one message. Its numbers are far apart in memory; a key that refers to all of them makes the
 * card gather them, without a copy and without a scatter/gather entry for each.
 *
 * <p>Not run on a card: the tests run it over a stand-in for the kernel and the card.
 */
@Command(name = "umr_example", sortOptions = false,
        header = "A column of a matrix sent as one message: user-mode memory registration of mlx5.",
        description = "Without SERVER it runs as the server. The two sides find each other over TCP.",
        footer = {"%nFor example, a server, and a client on another machine:",
            "  rdmacm umr_example -d mlx5_0", "  rdmacm umr_example -d mlx5_0 192.168.99.1"})
public final class UmrExample implements Callable<Integer> {
    private static final int ROWS = 6;
    private static final int COLUMNS = 8;
    private static final int COLUMN = 3;
    private static final ValueLayout.OfInt NUMBER = ValueLayout.JAVA_INT;
    private static final int ROW_BYTES = COLUMNS * Integer.BYTES;
    // The registration and the send each complete.
    private static final int REQUESTS = 2;

    @Mixin
    private PeerOptions options;

    private Console console;

    /** Created by picocli. */
    public UmrExample() {
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
                CompletionQueue queue = context.createCompletionQueue(REQUESTS, events);
                MemoryRegion matrix = domain.allocate(ROWS * ROW_BYTES, AccessFlag.LOCAL_WRITE);
                Mlx5QueuePair pair = Mlx5QueuePair.create(domain, Mlx5QueuePairAttributes
                        .of(QueuePairInitAttributes.builder().completionQueue(queue).maxSendRequests(REQUESTS)
                                .maxReceiveRequests(1).sendOperations(List.of(SendOperation.SEND)).build())
                        .operations(Mlx5SendOperation.MR_INTERLEAVED))) {
            RcSide side = new RcSide(pair.queuePair(), matrix, peer);
            connect(options.address(context), side, pair, peer);
            if (options.isServer()) {
                side.awaitCompletion();
                console.print("received: " + numbers(matrix.memory(), 0, 1, ROWS));
            } else {
                send(side, pair, matrix);
            }
            // Neither side leaves before the other one is done.
            peer.sync('D');
        }
        return 0;
    }

    private void connect(PeerOptions.PortAddress own, RcSide side, Mlx5QueuePair pair, TcpPeer peer)
            throws IOException, InterruptedException {
        // Nobody reads or writes the memory of the other side.
        RcAddress remote = RcAddress.of(peer.exchange(new RcAddress(0, 0, pair.number(), own.lid(), own.gid())
                .toBytes()));
        side.init(options.devicePort());
        if (options.isServer()) {
            side.postReceive();
        }
        side.readyToReceive(options.path(own, remote.lid(), remote.gid()), remote.queuePair());
        side.readyToSend();
        // The message must not arrive before the other side is ready to receive.
        peer.sync('Q');
        side.watchPeer();
    }

    private void send(RcSide side, Mlx5QueuePair pair, MemoryRegion matrix) throws IOException, InterruptedException {
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < COLUMNS; j++) {
                matrix.memory().setAtIndex(NUMBER, (long) i * COLUMNS + j, 10 * (i + 1) + j + 1);
            }
            console.print("row " + (i + 1) + ": " + numbers(matrix.memory(), i * COLUMNS, 1, COLUMNS));
        }
        // From each row one number is taken, and the rest is skipped.
        InterleavedLayout column = InterleavedLayout.of(ROWS, new InterleavedLayout.Part(matrix,
                (COLUMN - 1) * Integer.BYTES, Integer.BYTES, ROW_BYTES - Integer.BYTES));
        try (Mkey key = Mkey.create(matrix.protectionDomain(), 2, MkeyFlag.INDIRECT);
                Mlx5Batch batch = pair.startBatch()) {
            batch.requests().id(0);
            batch.register(key, column, Set.of(AccessFlag.LOCAL_WRITE));
            batch.requests().id(1).send();
            batch.data(key, 0, ROWS * Integer.BYTES);
            batch.complete();
            for (int i = 0; i < REQUESTS; i++) {
                side.awaitCompletion();
            }
        }
        console.print("sent column " + COLUMN + ": " + numbers(matrix.memory(), COLUMN - 1, COLUMNS, ROWS));
    }

    private static String numbers(MemorySegment memory, int first, int step, int count) {
        StringJoiner numbers = new StringJoiner(" ");
        for (int i = 0; i < count; i++) {
            numbers.add(Integer.toString(memory.getAtIndex(NUMBER, first + (long) i * step)));
        }
        return numbers.toString();
    }
}
