// SPDX-License-Identifier: Apache-2.0

/**
 * A client of Valkey, a key-value store that many know by its ancestor Redis, over RDMA and over TCP. The server is
 * not part of this project: any {@code valkey-server} built with {@code BUILD_RDMA=yes} will do.
 *
 * <h2>The protocol over RDMA</h2>
 *
 * <p>Each side registers a buffer, and tells the other where it is in a control message. The other then writes its byte
 * stream there by RDMA writes with immediate data, one after the other; the immediate is the number of bytes. When the
 * buffer is full to the last byte and has been read, its owner announces it anew. Requests and answers in the stream
 * are the same as over TCP. {@link io.rdmacm.examples.valkey.RdmaStream} is all of it.
 *
 * <h2>Where to start</h2>
 *
 * <p>{@link io.rdmacm.examples.valkey.ByteStream} is what the transports have in common, and
 * {@link io.rdmacm.examples.valkey.ValkeyClient} sends commands over it. The programs are
 * {@link io.rdmacm.examples.valkey.ValkeyCli} and {@link io.rdmacm.examples.valkey.ValkeyLoad}.
 */
package io.rdmacm.examples.valkey;
