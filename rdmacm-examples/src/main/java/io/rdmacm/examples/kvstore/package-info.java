// SPDX-License-Identifier: Apache-2.0

/**
 * A key-value store that shows what one-sided reads are good for: a client gets a value by an RDMA read of the server's
 * memory, in which the server's program takes no part. Only puts are messages. It has no counterpart in C.
 *
 * <p>Read {@link io.rdmacm.examples.kvstore.KvSlot} first: how a reader recognises a slot that was being written. Then
 * {@link io.rdmacm.examples.kvstore.KvTable}, the table; {@link io.rdmacm.examples.kvstore.KvConnection} and
 * {@link io.rdmacm.examples.kvstore.KvService}, the two sides. The commands are
 * {@link io.rdmacm.examples.kvstore.KvServer} and {@link io.rdmacm.examples.kvstore.KvClient}.
 */
package io.rdmacm.examples.kvstore;
