// SPDX-License-Identifier: Apache-2.0

/**
 * Lets {@code io.rdmacm.netty} share the queues of streams, which programs cannot. Exported to it alone.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.core.internal.access.StreamAccess}, the only class.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.core.stream}, which implements it.
 */
@org.jspecify.annotations.NullMarked
package io.rdmacm.core.internal.access;
