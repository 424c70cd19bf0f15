// SPDX-License-Identifier: Apache-2.0

/**
 * The engine under messages and streams. It knows nothing of either. Not exported.
 *
 * <h2>What lives here</h2>
 * {@link io.rdmacm.core.internal.engine.Loop}: the completion queues of a device, those whose completions arrive in
 * them, and who drives them. {@link io.rdmacm.core.internal.engine.Workers}: threads for what may wait.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.core.internal.engine.Loop}.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.core}, {@link io.rdmacm.verbs} and {@code io.rdmacm.verbs.internal.wait}.
 */
@org.jspecify.annotations.NullMarked
package io.rdmacm.core.internal.engine;
