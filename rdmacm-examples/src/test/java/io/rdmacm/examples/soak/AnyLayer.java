// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.random.RandomGenerator;

/** A fault of a layer chosen at random, whose server then serves another client as if nothing had happened. */
interface AnyLayer extends Scenario {
    /** Provokes the fault. */
    void inject(Worker worker, Layer layer, RandomGenerator random) throws Exception;

    @Override
    default void run(Worker worker, RandomGenerator random) throws Exception {
        Layer layer = Layer.ALL.get(random.nextInt(Layer.ALL.size()));
        try {
            inject(worker, layer, random);
            new Exchanges(layer).run(worker, random);
        } catch (Exception e) {
            throw new LossException("the layer was " + layer, e);
        }
        worker.counters().countFault(toString());
    }
}
