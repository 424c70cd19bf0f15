// SPDX-License-Identifier: Apache-2.0

/**
 * The objects of librdmacm. The names are those of C in full words: {@code rdma_create_event_channel} is
 * {@link io.rdmacm.core.EventChannel#open}, {@code rdma_resolve_addr} is
 * {@link io.rdmacm.core.CmId#resolveAddress}. {@link io.rdmacm.verbs.NativeObject} documents what all objects have in
 * common.
 */
package io.rdmacm.core;
