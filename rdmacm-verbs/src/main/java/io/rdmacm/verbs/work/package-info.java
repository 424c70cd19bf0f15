// SPDX-License-Identifier: Apache-2.0

/**
 * Types of work requests and completions.
 *
 * <h2>What lives here</h2>
 * Opcodes, flags and statuses, the access rights of memory, and {@link io.rdmacm.verbs.work.WorkCompletion}, the
 * immutable copy of a completion. Work requests and completion buffers, which live in native memory, are in
 * {@link io.rdmacm.verbs}.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.work.WorkCompletion}, {@link io.rdmacm.verbs.work.WorkCompletionStatus},
 * {@link io.rdmacm.verbs.work.AccessFlag}.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs.error} and {@code io.rdmacm.verbs.internal.ffi}.
 */
package io.rdmacm.verbs.work;
