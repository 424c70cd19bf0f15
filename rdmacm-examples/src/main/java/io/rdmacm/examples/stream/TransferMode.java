// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.util.List;

import io.rdmacm.core.connection.WaitPolicy;

/**
 * How data are transferred.
 *
 * @param async whether to wait before each call until it can do something
 * @param blocking whether to sleep while there is nothing to do; otherwise this side is always busy
 */
record TransferMode(boolean async, boolean blocking) {
    /** Returns the mode that the options ask for, of which the last one counts. */
    static TransferMode of(List<TestOption> options) {
        int block = options.lastIndexOf(TestOption.BLOCKING);
        return new TransferMode(options.contains(TestOption.ASYNC),
                block >= 0 && block > options.lastIndexOf(TestOption.NONBLOCKING));
    }

    WaitPolicy waiting() {
        return blocking ? WaitPolicy.defaults() : WaitPolicy.spinAlways();
    }
}
