// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;

/**
 * One client of the load. The keys are divided among the clients: each puts its own ones, and gets those of all. So it
 * knows what it must get of its own keys, and of the others it knows that their puts are numbered upwards.
 */
final class LoadWorker implements Callable<LoadResult> {
    private static final int PERCENT = 100;

    private final KvClient client;
    private final LoadPlan plan;
    private final int index;
    private final CyclicBarrier together;
    private final Progress progress;
    private final LoadResult result = new LoadResult();
    // By key: the number of the last put that this client has made or seen.
    private final int[] seen;

    LoadWorker(KvClient client, LoadPlan plan, int index, CyclicBarrier together, Progress progress) {
        this.client = client;
        this.plan = plan;
        this.index = index;
        this.together = together;
        this.progress = progress;
        this.seen = new int[plan.keys()];
    }

    @Override
    public LoadResult call() throws IOException, InterruptedException, BrokenBarrierException {
        // Not measured: the first put of each key, and a get of each.
        for (int key = index; key < plan.keys(); key += plan.clients()) {
            client.put(LoadValue.key(key), LoadValue.make(key, 0, plan.valueBytes()));
            progress.step();
        }
        together.await();
        for (int key = index; key < plan.keys(); key += plan.clients()) {
            get(key);
            progress.step();
        }
        together.await();
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
