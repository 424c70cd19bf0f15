// SPDX-License-Identifier: Apache-2.0

/**
 * The direct verbs of mlx5 ({@code mlx5dv.h}): what NVIDIA's ConnectX adapters have beyond verbs. The library libmlx5
 * (Debian package ibverbs-providers) is loaded when it is first used; a function that needs it throws a
 * {@code NativeLibraryException} if it is missing or too old.
 *
 * <p><b>Not run on a card.</b> No such adapter was at hand. What this package hands to libmlx5, and what libmlx5 makes
 * of it, is tested; that a device executes it is not.
 *
 * <h2>What lives here</h2>
 * Device queries and the clock, dynamically connected queue pairs (DC), user-mode memory registration (UMR: keys for
 * interleaved memory and lists, whose blocks may be signed and encrypted), completion queues with other entries, raw
 * work queue entries with the extended atomics formed from them, memory of the device and operations on it, device
 * commands (DEVX), and, experimental, queues that are used without a call into C.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.mlx5.Mlx5Device}, {@link io.rdmacm.verbs.mlx5.Mlx5QueuePair} and
 * {@link io.rdmacm.verbs.mlx5.Mlx5Batch}.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs}: contexts, queue pairs and batches are those of that package, with more operations.
 */
package io.rdmacm.verbs.mlx5;
