// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.random.RandomGenerator;

/** Something that connections go through from beginning to end, and that ends well. */
@FunctionalInterface
interface Act {
    /**
     * Plays it once. Whatever it throws ends the soak.
     *
     * @param stage what there is to play with
     * @param random what decides
     */
    void play(Stage stage, RandomGenerator random) throws Exception;
}
