// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;

/**
 * One client of the load. The keys are divided among the clients: each puts its own keys only, and gets all. So it
 * knows the exact value of its own keys, and for the others it knows that the numbers of their puts only grow.
 */
final class LoadWorker implements Callable<LoadResult> {
    private static final int PERCENT = 100;

    private final KvClient client;
    private final LoadPlan plan;
    private final int index;
    private final CyclicBarrier barrier;
    private final Progress progress;
    private final LoadResult result = new LoadResult();
    // by key: the number of the last put that this client has made or seen
    private final int[] seen;

    LoadWorker(KvClient client, LoadPlan plan, int index, CyclicBarrier barrier, Progress progress) {
        this.client = client;
        this.plan = plan;
        this.index = index;
        this.barrier = barrier;
        this.progress = progress;
        this.seen = new int[plan.keys()];
    }

    @Override
    public LoadResult call() throws IOException, InterruptedException, BrokenBarrierException {
        // Not measured: one put and one get of each key.
        for (int key = index; key < plan.keys(); key += plan.clients()) {
            client.put(LoadValue.key(key), LoadValue.make(key, 0, plan.valueBytes()));
            progress.step();
        }
        barrier.await();
        for (int key = index; key < plan.keys(); key += plan.clients()) {
            get(key);
            progress.step();
        }
        barrier.await();
        SplittableRandom random = new SplittableRandom(index);
        result.begin();
        for (int i = index; i < plan.operations(); i += plan.clients()) {
            boolean reads = random.nextInt(PERCENT) < plan.readPercent();
            int key = reads ? random.nextInt(plan.keys()) : ownKey(random);
            long start = System.nanoTime();
            if (reads) {
                byte[] value = client.get(LoadValue.key(key));
                result.got(System.nanoTime() - start);
                check(key, value);
            } else {
                client.put(LoadValue.key(key), LoadValue.make(key, seen[key] + 1, plan.valueBytes()));
                result.put(System.nanoTime() - start);
                seen[key]++;
            }
            progress.step();
        }
        result.end(client.tornReads());
        return result;
    }

    private int ownKey(SplittableRandom random) {
        int own = (plan.keys() - index + plan.clients() - 1) / plan.clients();
        return index + random.nextInt(own) * plan.clients();
    }

    private void get(int key) throws IOException, InterruptedException {
        check(key, client.get(LoadValue.key(key)));
    }

    private void check(int key, byte[] value) throws IOException {
        int put = LoadValue.check(key, value, plan.valueBytes());
        boolean own = key % plan.clients() == index;
        if (own ? put != seen[key] : put < seen[key]) {
            throw new IOException("key " + key + " has the value of put " + put + " after that of put " + seen[key]);
        }
        seen[key] = put;
    }
}
