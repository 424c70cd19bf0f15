// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;

import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.report.Side;

/** One of the two sides of the comparison. */
interface Bench extends AutoCloseable {
    /** {@return the side} */
    Side side();

    /**
     * Runs a measurement once.
     *
     * @param measurement what to measure
     * @return the result
     * @throws IOException if it could not be measured
     */
    Outcome run(Measurement measurement) throws IOException, InterruptedException;

    @Override
    void close();
}
