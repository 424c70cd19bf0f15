// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.random.RandomGenerator;

/** Another scenario while virtual threads keep their carriers, so that no other virtual thread can run. */
final class BusyCarriers implements Scenario {
    private static final int CARRIERS = Integer.getInteger("jdk.virtualThreadScheduler.parallelism",
            Runtime.getRuntime().availableProcessors());

    private final List<Scenario> others;

    BusyCarriers(List<Scenario> others) {
        this.others = others;
    }

    /** Virtual threads that do not give their carriers back. */
    private static final class Spinning {
        private final CountDownLatch running = new CountDownLatch(CARRIERS);
        private volatile boolean over;

        Spinning() throws InterruptedException {
            for (int i = 0; i < CARRIERS; i++) {
                Thread.ofVirtual().start(this::spin);
            }
            running.await();
        }

        private void spin() {
            running.countDown();
            while (!over) {
                Thread.onSpinWait();
            }
        }
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        // One worker at a time: those of several together would be more than there are carriers.
        synchronized (BusyCarriers.class) {
            Spinning spinning = new Spinning();
            try {
                others.get(random.nextInt(others.size())).run(worker, random);
            } finally {
                spinning.over = true;
            }
        }
        worker.counters().countFault("busy-carriers");
    }
}
