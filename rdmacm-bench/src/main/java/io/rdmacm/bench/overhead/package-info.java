// SPDX-License-Identifier: Apache-2.0
/**
 * The overhead of a call compared with the same call in C, measured without a device: the calls go to a null provider,
 * a library in C that stands in for libibverbs and completes every request at once, or to libmlx5 without a card.
 *
 * <p>{@link io.rdmacm.bench.overhead.Overhead} is the main class, {@link io.rdmacm.bench.overhead.PostAndPoll} the
 * benchmark with its ways, each a loop.
 */
package io.rdmacm.bench.overhead;
