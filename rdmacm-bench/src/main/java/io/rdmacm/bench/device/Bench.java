// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;

import io.rdmacm.bench.report.Side;

/** One of the two sides that are compared. */
interface Bench extends AutoCloseable {
    /** {@return which one} */
    Side side();

    /**
     * Measures once.
     *
     * @param measurement what
     * @return what it gave
     * @throws IOException when it could not be measured
     */
    Outcome run(Measurement measurement) throws IOException, InterruptedException;

    @Override
    void close();
}
