// SPDX-License-Identifier: Apache-2.0

/**
 * The objects of libibverbs: everything that is opened or created, posted to, polled, and closed.
 *
 * <h2>What lives here</h2>
 * One class for each kind of C object, and the work requests and completions that pass between them. Names are those
 * of C, spelled out. The method that creates an object belongs to the class whose object C takes as the first argument:
 * {@code ibv_alloc_pd(context)} is {@link io.rdmacm.verbs.VerbsContext#allocateProtectionDomain
 * VerbsContext.allocateProtectionDomain}, and {@code ibv_reg_mr(pd, ...)} is
 * {@link io.rdmacm.verbs.ProtectionDomain#register(java.lang.foreign.MemorySegment, io.rdmacm.verbs.work.AccessFlag...)
 * ProtectionDomain.register}.
 * <table>
 * <caption>The families</caption>
 * <tr><th>devices</th><td>{@link io.rdmacm.verbs.Device}, {@link io.rdmacm.verbs.VerbsContext},
 * {@link io.rdmacm.verbs.AsyncEvent}</td></tr>
 * <tr><th>domains</th><td>{@link io.rdmacm.verbs.ProtectionDomain}, {@link io.rdmacm.verbs.ParentDomain},
 * {@link io.rdmacm.verbs.ThreadDomain}, {@link io.rdmacm.verbs.XrcDomain}</td></tr>
 * <tr><th>memory</th><td>{@link io.rdmacm.verbs.MemoryRegion}, {@link io.rdmacm.verbs.ImplicitMemoryRegion},
 * {@link io.rdmacm.verbs.MemoryWindow}, {@link io.rdmacm.verbs.DeviceMemory}</td></tr>
 * <tr><th>queue pairs</th><td>{@link io.rdmacm.verbs.QueuePair}, {@link io.rdmacm.verbs.AddressHandle},
 * {@link io.rdmacm.verbs.MulticastAttachment}, {@link io.rdmacm.verbs.SendRequest},
 * {@link io.rdmacm.verbs.SendBatch}</td></tr>
 * <tr><th>receives</th><td>{@link io.rdmacm.verbs.ReceiveRequest}, {@link io.rdmacm.verbs.SharedReceiveQueue},
 * {@link io.rdmacm.verbs.WorkQueue}, {@link io.rdmacm.verbs.IndirectionTable}</td></tr>
 * <tr><th>completions</th><td>{@link io.rdmacm.verbs.CompletionQueue},
 * {@link io.rdmacm.verbs.ExtendedCompletionQueue}, {@link io.rdmacm.verbs.CompletionChannel},
 * {@link io.rdmacm.verbs.WorkCompletions}, {@link io.rdmacm.verbs.CompletionCursor}</td></tr>
 * </table>
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.NativeObject} for the rules that all objects share (closing, threads),
 * {@link io.rdmacm.verbs.QueuePair} for posting, and {@link io.rdmacm.verbs.CompletionQueue} for polling and waiting.
 *
 * <h2>What it stands on</h2>
 * The values that objects are created with and report ({@link io.rdmacm.verbs.device},
 * {@link io.rdmacm.verbs.address}, {@link io.rdmacm.verbs.queue}, {@link io.rdmacm.verbs.work}) and the exceptions
 * ({@link io.rdmacm.verbs.error}). On top of it stand flow steering
 * ({@code io.rdmacm.verbs.flow}), pools of registered memory ({@code io.rdmacm.verbs.pool}), driver buffers and
 * dma-bufs ({@code io.rdmacm.verbs.memory}) and completion counters ({@code io.rdmacm.verbs.counter}).
 */
package io.rdmacm.verbs;
