// SPDX-License-Identifier: Apache-2.0

/**
 * A key-value store that shows what one-sided reads are good for: a client gets a value by an RDMA read of the server's
 * memory, and the server's program has no part in it. Only to put one it sends a message. The same store answers over
 * TCP too, and a load generator compares both.
 */
package io.rdmacm.examples.kvstore;
