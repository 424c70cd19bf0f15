// SPDX-License-Identifier: Apache-2.0

/**
 * Types, states and attributes of queue pairs, completion queues, shared receive queues and work queues.
 *
 * <h2>What lives here</h2>
 * Immutable values only. The queues themselves are in {@link io.rdmacm.verbs}.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.queue.QueuePairAttributes} ({@code struct ibv_qp_attr} together with its mask),
 * {@link io.rdmacm.verbs.queue.QueuePairTransitions} (the transitions from RESET to RTS for each transport),
 * {@link io.rdmacm.verbs.queue.QueuePairCapabilities} (the capacities of a queue pair).
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs.address} for paths, {@link io.rdmacm.verbs.work} for access flags,
 * {@link io.rdmacm.verbs.error}, and {@code io.rdmacm.verbs.internal.ffi}.
 */
package io.rdmacm.verbs.queue;
