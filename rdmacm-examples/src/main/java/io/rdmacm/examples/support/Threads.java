// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

/** Waits for threads. */
public final class Threads {
    private Threads() {
    }

    /**
     * Waits for the end of a thread, also if this thread is interrupted meanwhile, which it then still is.
     *
     * @param thread the thread, which ends by itself
     */
    public static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
