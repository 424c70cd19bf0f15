// SPDX-License-Identifier: Apache-2.0

/**
 * EFA, the Elastic Fabric Adapter of Amazon (efadv(7)), and its transport SRD: reliable datagrams, with RDMA reads and
 * writes on newer devices. These functions are in {@code libefa.so.1} (package {@code ibverbs-providers}), which is
 * loaded when the first of them is called.
 *
 * <p>Not run on a card: tested with the driver of rdma-core, unchanged, over a stand-in for the kernel and the card.
 *
 * <h2>What lives here</h2>
 * Queries ({@link io.rdmacm.verbs.efa.EfaDeviceAttributes}, {@link io.rdmacm.verbs.efa.EfaQueueDepths},
 * {@link io.rdmacm.verbs.efa.EfaMemoryAttributes}, {@link io.rdmacm.verbs.efa.EfaAddressHandle}), the creation of queue
 * pairs and completion queues, and where these are in memory.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.efa.EfaQueuePair}.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs}: an SRD queue pair is a {@link io.rdmacm.verbs.QueuePair}.
 */
package io.rdmacm.verbs.efa;
