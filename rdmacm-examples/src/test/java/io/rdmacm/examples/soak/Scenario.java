// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.random.RandomGenerator;

/** What connections go through from their creation to their close, with a known outcome. */
@FunctionalInterface
interface Scenario {
    /**
     * Runs the scenario once. Any exception ends the soak.
     *
     * @param worker the worker that runs it
     * @param random the source of its choices
     */
    void run(Worker worker, RandomGenerator random) throws Exception;
}
