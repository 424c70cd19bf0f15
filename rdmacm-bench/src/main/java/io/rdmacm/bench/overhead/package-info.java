// SPDX-License-Identifier: Apache-2.0

/**
 * The overhead of a call compared with the same call in C, measured without a device: the calls go to a null provider,
 * a library in C that stands in for libibverbs and completes every request at once.
 *
 * <p>{@link io.rdmacm.bench.overhead.Overhead} is the main class. {@link io.rdmacm.bench.overhead.PublicLoop},
 * {@link io.rdmacm.bench.overhead.BindingsLoop}, {@link io.rdmacm.bench.overhead.JniLoop} and
 * {@link io.rdmacm.bench.overhead.CLoop} are the loops that are compared; and that over
 * {@link io.rdmacm.bench.overhead.Disni}, where its jar and library are named.
 */
package io.rdmacm.bench.overhead;
