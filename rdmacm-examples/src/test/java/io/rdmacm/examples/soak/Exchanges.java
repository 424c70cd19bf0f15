// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.net.InetSocketAddress;
import java.util.random.RandomGenerator;

/** A client of a layer and the server of its worker; either side ends first. */
record Exchanges(Layer layer) implements Scenario {
    private static final int LONGEST = 300_000;
    private static final int MAX = 8;

    /** Returns the address of the worker's server. */
    InetSocketAddress server(Worker worker) throws Exception {
        return worker.shared(layer, () -> layer.serve(worker)).address();
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        run(worker, random, server(worker));
    }

    /** Runs a client of any server. */
    void run(Worker worker, RandomGenerator random, InetSocketAddress server) throws Exception {
        try (Layer.Client client = layer.client(worker, random)) {
            run(worker, random, server, client, 1 + random.nextInt(MAX));
        }
    }

    /** Connects a client, and exchanges so many payloads. */
    static void run(Worker worker, RandomGenerator random, InetSocketAddress server, Layer.Client client, int count)
            throws Exception {
        client.connect(server);
        worker.counters().countConnection();
        for (int i = 0; i < count; i++) {
            int length = Payload.HEADER + random.nextInt(LONGEST);
            client.exchange(random.nextLong(), length);
            worker.counters().countOperation("bytes echoed", length);
        }
        if (random.nextBoolean()) {
            client.end();
        }
    }
}
