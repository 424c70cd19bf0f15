// SPDX-License-Identifier: Apache-2.0

/**
 * The objects of librdmacm. Names are those of C in full words: {@code rdma_create_event_channel} is
 * {@link io.rdmacm.core.EventChannel#open}, {@code rdma_resolve_addr} is
 * {@link io.rdmacm.core.CmId#resolveAddress}. What all objects have in common is told in
 * {@link io.rdmacm.verbs.NativeObject}.
 */
package io.rdmacm.core;
