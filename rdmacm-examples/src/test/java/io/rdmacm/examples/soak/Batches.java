// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.random.RandomGenerator;

import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequests;

/** Many writes posted at once, of which only the last one is signaled. */
final class Batches implements Scenario {
    private static final int SIZE = 1 << 10;
    private static final int MAX = Side.DEPTH - 1;

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        try (Pair pair = Pair.connect(worker, random)) {
            SendRequests block = SendRequests.allocate(MAX, 1);
            int rounds = 1 + random.nextInt(20);
            for (int round = 0; round < rounds; round++) {
                int count = 1 + random.nextInt(MAX);
                long first = random.nextLong();
                for (int i = 0; i < count; i++) {
                    Payload.write(pair.client().region().memory().asSlice((long) i * SIZE, SIZE), first + i);
                }
                if (pair.client().postsBatches()) {
                    batch(pair, first, count);
                } else {
                    block(pair, block, first, count);
                }
                pair.client().success(first + count - 1);
                for (int i = 0; i < count; i++) {
                    Payload.check(pair.server().region().memory().asSlice(Side.HALF + (long) i * SIZE, SIZE),
                            first + i);
                    worker.counters().countOperation("write", SIZE);
                }
            }
        }
    }

    private static void batch(Pair pair, long first, int count) throws Exception {
        if ((first & 1) == 0) {
            // a batch that is not completed is discarded
            try (SendBatch batch = pair.client().pair().startBatch()) {
                batch.id(first).rdmaWrite(0, 0).data(pair.client().region(), 0, SIZE);
            }
        }
        try (SendBatch batch = pair.client().pair().startBatch()) {
            for (int i = 0; i < count; i++) {
                batch.id(first + i).signaled(i == count - 1)
                        .rdmaWrite(target(pair, i), pair.server().region().remoteKey())
                        .data(pair.client().region(), (long) i * SIZE, SIZE);
            }
            batch.complete();
        }
    }

    private static void block(Pair pair, SendRequests block, long first, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            block.get(i).rdmaWrite(target(pair, i), pair.server().region().remoteKey()).id(first + i)
                    .signaled(i == count - 1).data(pair.client().region(), (long) i * SIZE, SIZE);
        }
        pair.client().pair().postSend(block, 0, count);
    }

    private static long target(Pair pair, int index) {
        return pair.server().region().remoteAddress() + Side.HALF + (long) index * SIZE;
    }
}
