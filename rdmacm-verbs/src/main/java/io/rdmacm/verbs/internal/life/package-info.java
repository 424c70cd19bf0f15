// SPDX-License-Identifier: Apache-2.0

/**
 * The lifetime of native objects from creation to close: which objects are open, which threads are inside their
 * methods, and when C may free them. Exported to io.rdmacm.core only.
 *
 * <h2>What lives here</h2>
 * Two mechanisms that let a close wait for calls in progress. Calls of the control path enter and leave a
 * {@link io.rdmacm.verbs.internal.life.Lifetime}, which counts them under a lock and knows parents and children. Posts
 * and polls, for which that would be too expensive, enter a {@link io.rdmacm.verbs.internal.life.BiasedLock}, which
 * costs two loads and two stores as long as only one thread uses the queue.
 *
 * <p>A lifetime makes its object in one step, and {@link io.rdmacm.verbs.internal.life.Parts} what consists of several:
 * whatever fails, nothing is left behind.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.internal.life.Lifetime}, {@link io.rdmacm.verbs.internal.life.BiasedLock},
 * {@link io.rdmacm.verbs.internal.life.ContextPin} (contexts that librdmacm owns and may free).
 *
 * <h2>What it stands on</h2>
 * {@code io.rdmacm.verbs.internal.ffi}, for membarrier(2), and {@link io.rdmacm.verbs.error}.
 */
package io.rdmacm.verbs.internal.life;
