// SPDX-License-Identifier: Apache-2.0

/**
 * A pool of registered memory: slices of one size that any thread takes and gives back in nanoseconds, without a call
 * to the kernel. And a cache of registrations, for memory that somebody else allocates.
 *
 * <h2>What lives here</h2>
 * {@link io.rdmacm.verbs.pool.RegisteredPool} registers slabs of memory and divides them up;
 * {@link io.rdmacm.verbs.pool.RegisteredSlice} is the right to use one slice until it is closed. The free slices are a
 * stack without a lock ({@code FreeList}) of objects that live as long as the pool ({@code Slot}).
 *
 * <p>{@link io.rdmacm.verbs.pool.RegistrationCache} keeps regions after their use;
 * {@link io.rdmacm.verbs.pool.CachedRegistration} is a use of one.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.pool.RegisteredPool}, {@link io.rdmacm.verbs.pool.RegistrationCache}.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs}: a slab is a memory region of a protection domain.
 */
package io.rdmacm.verbs.pool;
