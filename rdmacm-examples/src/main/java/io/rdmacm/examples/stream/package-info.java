// SPDX-License-Identifier: Apache-2.0

/**
 * The programs of librdmacm for rsockets: rstream(1), riostream(1) and rcopy(1), over
 * {@link io.rdmacm.core.stream.RdmaStream}. Both roles work with those of the C programs (rstream.c, riostream.c,
 * rcopy.c).
 *
 * <p>Read {@link io.rdmacm.examples.stream.Rcopy} and {@link io.rdmacm.examples.stream.RcopyServer} first, which copy a
 * file; then {@link io.rdmacm.examples.stream.RdmaEnd}, which shows the ways to wait, and
 * {@link io.rdmacm.examples.stream.Riostream}, which writes to memory of the peer.
 * {@link io.rdmacm.examples.stream.StreamProgram} holds the options of rstream and riostream.
 */
package io.rdmacm.examples.stream;
