// SPDX-License-Identifier: Apache-2.0

/**
 * What queue pairs, shared receive queues and work queues are made with, brought to, and found in.
 *
 * <h2>What lives here</h2>
 * Types, states and attributes of queues, as immutable values. The queues themselves are in {@link io.rdmacm.verbs}.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.queue.QueuePairAttributes} ({@code struct ibv_qp_attr} together with its mask),
 * {@link io.rdmacm.verbs.queue.QueuePairTransitions} (the steps from RESET to RTS for each transport),
 * {@link io.rdmacm.verbs.queue.QueuePairCapabilities} (the sizes of a queue pair).
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs.address} for paths, {@link io.rdmacm.verbs.work} for access flags, and
 * {@link io.rdmacm.verbs.error}.
 */
package io.rdmacm.verbs.queue;
