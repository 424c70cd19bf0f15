// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.nio.channels.ClosedByInterruptException;

/** TCP connections, beside RDMA or in its place. */
public final class Tcp {
    private Tcp() {
    }

    /**
     * Returns what to throw when an interrupt has closed a channel, and clears the interrupt.
     *
     * @param cause what the channel has thrown
     * @return the exception
     */
    public static InterruptedException interrupted(ClosedByInterruptException cause) {
        Thread.interrupted();
        InterruptedException interrupted = new InterruptedException("interrupted on the TCP connection");
        interrupted.initCause(cause);
        return interrupted;
    }
}
