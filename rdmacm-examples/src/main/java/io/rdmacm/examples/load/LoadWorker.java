// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.load;

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

    private final LoadClient client;
    private final LoadPlan plan;
    private final int index;
    private final CyclicBarrier barrier;
    private final Progress progress;
    private final LoadResult result = new LoadResult();
    // by key: the number of the last put that this client has started or seen
    private final int[] seen;
    // the requests of a batch
    private final int[] batchKeys;
    private final boolean[] batchReads;
    // by request, for gets of own keys: the number of the last put before it
    private final int[] batchPuts;

    LoadWorker(LoadClient client, LoadPlan plan, int index, CyclicBarrier barrier, Progress progress) {
        this.client = client;
        this.plan = plan;
        this.index = index;
        this.barrier = barrier;
        this.progress = progress;
        this.seen = new int[plan.keys()];
        this.batchKeys = new int[plan.depth()];
        this.batchReads = new boolean[plan.depth()];
        this.batchPuts = new int[plan.depth()];
    }

    @Override
    public LoadResult call() throws IOException, InterruptedException, BrokenBarrierException {
        // Not measured: one put and one get of each key.
        LoadResult unmeasured = new LoadResult();
        for (boolean reads : new boolean[] {false, true}) {
            for (int key = index; key < plan.keys(); key += plan.clients()) {
                start(0, key, reads);
                finish(1, unmeasured);
            }
            barrier.await();
        }
        SplittableRandom random = new SplittableRandom(index);
        int left = (plan.operations() - index + plan.clients() - 1) / plan.clients();
        result.begin();
        while (left > 0) {
            int batch = Math.min(left, plan.depth());
            for (int i = 0; i < batch; i++) {
                boolean reads = random.nextInt(PERCENT) < plan.readPercent();
                start(i, reads ? random.nextInt(plan.keys()) : ownKey(random), reads);
            }
            finish(batch, result);
            left -= batch;
        }
        result.end();
        return result;
    }

    private int ownKey(SplittableRandom random) {
        int own = (plan.keys() - index + plan.clients() - 1) / plan.clients();
        return index + random.nextInt(own) * plan.clients();
    }

    private boolean isOwn(int key) {
        return key % plan.clients() == index;
    }

    private void start(int request, int key, boolean reads) throws IOException, InterruptedException {
        batchKeys[request] = key;
        batchReads[request] = reads;
        if (reads) {
            batchPuts[request] = seen[key];
            client.startGet(LoadValue.key(key));
        } else {
            client.startPut(LoadValue.key(key), LoadValue.make(key, ++seen[key], plan.valueBytes()));
        }
    }

    private void finish(int requests, LoadResult measured) throws IOException, InterruptedException {
        long start = System.nanoTime();
        client.flush();
        for (int i = 0; i < requests; i++) {
            if (batchReads[i]) {
                byte[] value = client.finishGet();
                measured.got(System.nanoTime() - start);
                check(i, value);
            } else {
                client.finishPut();
                measured.put(System.nanoTime() - start);
            }
            progress.step();
        }
    }

    private void check(int request, byte[] value) throws IOException {
        int key = batchKeys[request];
        int put = LoadValue.check(key, value, plan.valueBytes());
        int last = isOwn(key) ? batchPuts[request] : seen[key];
        if (isOwn(key) ? put != last : put < last) {
            throw new IOException("key " + key + " has the value of put " + put + " after that of put " + last);
        }
        if (!isOwn(key)) {
            seen[key] = put;
        }
    }
}
