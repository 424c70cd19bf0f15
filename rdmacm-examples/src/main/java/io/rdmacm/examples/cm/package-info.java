// SPDX-License-Identifier: Apache-2.0

/**
 * The test programs of librdmacm. Each has the name, the options and the output of its counterpart in C and works with
 * it over the wire. Where the C program waits forever, these have the option {@code --timeout}.
 *
 * <p>Start with {@link io.rdmacm.examples.cm.SynchronousProgram}, which is rdma_client and rdma_server: it is the
 * shortest, from connect to disconnect. {@link io.rdmacm.examples.cm.TransferProgram} has the steps of connecting that
 * ucmatose and udaddy share, {@link io.rdmacm.examples.cm.Node} the messages of these and of mckey.
 */
package io.rdmacm.examples.cm;
