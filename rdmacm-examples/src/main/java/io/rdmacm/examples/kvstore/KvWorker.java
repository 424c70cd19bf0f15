// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.LongStream;

/**
 * One client of the load. The keys are divided among the clients: each puts its own keys only, and gets all. So it
 * knows the exact value of its own keys, and for the others it knows that the numbers of their puts only grow.
 */
final class KvWorker implements Callable<Void> {
    private static final int PERCENT = 100;

    private final KvClient client;
    private final int index;
    private final int clients;
    private final int size;
    private final int operations;
    private final int reads;
    private final CyclicBarrier ready;
    // by key: the number of the last put that this client has made or seen
    private final int[] seen;
    private final LongStream.Builder gets = LongStream.builder();
    private final LongStream.Builder puts = LongStream.builder();

    KvWorker(KvClient client, int index, int clients, int keys, int size, int operations, int reads,
            CyclicBarrier ready) {
        this.client = client;
        this.index = index;
        this.clients = clients;
        this.size = size;
        this.operations = (operations - index + clients - 1) / clients;
        this.reads = reads;
        this.ready = ready;
        this.seen = new int[keys];
    }

    KvClient client() {
        return client;
    }

    /** Returns how long each get took, in nanoseconds. Can be called once. */
    LongStream gets() {
        return gets.build();
    }

    LongStream puts() {
        return puts.build();
    }

    @Override
    public Void call() throws IOException, InterruptedException, BrokenBarrierException {
        // Not measured: a put of each key.
        for (int key = index; key < seen.length; key += clients) {
            put(key);
        }
        ready.await();
        SplittableRandom random = new SplittableRandom(index);
        int own = (seen.length - index + clients - 1) / clients;
        for (int i = 0; i < operations; i++) {
            boolean read = random.nextInt(PERCENT) < reads;
            int key = read ? random.nextInt(seen.length) : index + random.nextInt(own) * clients;
            long start = System.nanoTime();
            if (read) {
                byte[] value = client.get(KvValue.key(key));
                gets.add(System.nanoTime() - start);
                check(key, value);
            } else {
                put(key);
                puts.add(System.nanoTime() - start);
            }
        }
        return null;
    }

    private void put(int key) throws IOException, InterruptedException {
        client.put(KvValue.key(key), KvValue.make(key, ++seen[key], size));
    }

    private void check(int key, byte[] value) throws IOException {
        int put = KvValue.check(key, value, size);
        if (key % clients == index ? put != seen[key] : put < seen[key]) {
            throw new IOException("key " + key + " has the value of put " + put + " after that of put " + seen[key]);
        }
        seen[key] = put;
    }
}
