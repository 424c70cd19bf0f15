// SPDX-License-Identifier: Apache-2.0

/**
 * Completion counters: the device adds up what queue pairs have completed, instead of writing a completion for each
 * work request, or beside that. They need rdma-core 65 and a device that has them; SoftRoCE does not.
 *
 * <h2>What lives here</h2>
 * {@link io.rdmacm.verbs.counter.CompletionCounter} and its values.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.counter.CompletionCounter}.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs}: a counter belongs to a context and is attached to queue pairs.
 */
package io.rdmacm.verbs.counter;
