// SPDX-License-Identifier: Apache-2.0

/**
 * Memory that needs more than plain registration: buffers that the driver allocates, dma-bufs that other drivers
 * import, hints for the DMA of a device. Most of it needs a newer rdma-core than the oldest one that this library
 * supports; where the installed one is too old, the calls throw
 * {@link io.rdmacm.verbs.error.NativeLibraryException NativeLibraryException}.
 *
 * <h2>What lives here</h2>
 * The objects {@link io.rdmacm.verbs.memory.VerbsBuffer}, {@link io.rdmacm.verbs.memory.DmaHandle} and
 * {@link io.rdmacm.verbs.memory.DmaBuf}, and the registration that can name them all.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.memory.ExtendedRegistration} (ibv_reg_mr_ex), {@link io.rdmacm.verbs.memory.VerbsBuffer}
 * (memory for confidential VMs).
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs}: a buffer belongs to a protection domain, a DMA handle to a context, and what is registered
 * is an ordinary {@link io.rdmacm.verbs.MemoryRegion}.
 */
package io.rdmacm.verbs.memory;
