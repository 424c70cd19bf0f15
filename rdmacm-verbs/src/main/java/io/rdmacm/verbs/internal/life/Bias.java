// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

/**
 * The right of one thread to enter a {@link BiasedLock} without locking. Only that thread sets the mark. A bias is
 * never passed on to another thread.
 */
public class Bias {
    // set before other threads can see the bias; null after it was revoked
    Thread thread;
    // the mark: 1 while the thread is inside
    int inside;

    Bias() {
    }
}
