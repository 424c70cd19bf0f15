// SPDX-License-Identifier: Apache-2.0

/**
 * From creation to close: which objects are open, who is inside one, and when C may free it. Exported to io.rdmacm.core
 * only.
 *
 * <h2>What lives here</h2>
 * Two mechanisms that let a close wait for everybody else. Calls of the control path enter and leave a
 * {@link io.rdmacm.verbs.internal.life.Lifetime}, which counts them under a lock and knows parents and children. Posts
 * and polls, for which that would cost too much, enter a {@link io.rdmacm.verbs.internal.life.BiasedLock}, which costs
 * two loads and two stores as long as one thread uses the queue.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.internal.life.Lifetime}, {@link io.rdmacm.verbs.internal.life.BiasedLock},
 * {@link io.rdmacm.verbs.internal.life.ContextPin} (objects that librdmacm frees when it likes).
 *
 * <h2>What it stands on</h2>
 * {@code io.rdmacm.verbs.internal.ffi}, for membarrier(2).
 */
package io.rdmacm.verbs.internal.life;
