// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

/**
 * The right of one thread to go into a {@link QueueGuard} without its lock. Only that thread writes the mark. Never
 * given to another.
 */
public class QueueClaim {
    // written before others see the claim, and null when it was taken away
    Thread thread;
    int inside;

    QueueClaim() {
    }
}
