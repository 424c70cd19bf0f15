// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.verbs.work.WorkCompletion;

/**
 * Several clients send to a server whose shared receive queue is empty. They retry (RNR) until receives are posted, and
 * nothing is lost.
 */
final class SharedReceives implements Scenario {
    private static final int MAX = 4;
    private static final int SIZE = 256;

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        List<Pair> pairs = new ArrayList<>();
        try {
            pairs.add(Pair.connect(worker, random, true, ConnectionParameters.defaults()));
            Side server = pairs.getFirst().server();
            int count = 2 + random.nextInt(MAX - 1);
            while (pairs.size() < count) {
                pairs.add(Pair.connect(worker, random, server));
            }
            for (int i = 0; i < count; i++) {
                Side client = pairs.get(i).client();
                Payload.write(client.region().memory().asSlice(0, SIZE), i);
                Operation.SEND_IMM.post(client, i, Operation.Target.of(i), 0, SIZE);
            }
            for (int i = 0; i < count; i++) {
                server.postReceive(i, Side.HALF + (long) i * SIZE, SIZE);
            }
            Map<Integer, Long> received = new HashMap<>();
            for (int i = 0; i < count; i++) {
                pairs.get(i).client().success(i);
                WorkCompletion done = server.success(i);
                received.put(done.immediate(), done.workRequestId());
                Payload.check(server.region().memory().asSlice(Side.HALF + done.workRequestId() * SIZE, SIZE),
                        done.immediate());
            }
            LossException.unless(received.size() == count, "%d messages arrived, of %d", received.size(), count);
            worker.counters().countFault("shared-queue-dry");
        } finally {
            // The first one owns what the others share.
            for (Pair pair : pairs.reversed()) {
                pair.close();
            }
        }
    }
}
