// SPDX-License-Identifier: Apache-2.0

/**
 * The engine under messages and streams. It knows nothing of either. Not exported.
 *
 * <h2>What lives here</h2>
 * <ul>
 * <li>{@link io.rdmacm.core.internal.engine.Loop}: the completion queues of a device, those whose completions arrive in
 * them, and who drives them. {@link io.rdmacm.core.internal.engine.Workers}: threads for what may wait.
 * <li>{@link io.rdmacm.core.internal.engine.CmLoop}: the thread that takes the events of the connection manager.
 * <li>{@link io.rdmacm.core.internal.engine.Link}: the life of one id, from the first step of a connect or from a
 * request to its close.
 * <li>{@link io.rdmacm.core.internal.engine.Acceptor}: a listening id, the requests and what becomes of them.
 * <li>{@link io.rdmacm.core.internal.engine.BackgroundTask}: what goes on without a thread of the program.
 * <li>{@link io.rdmacm.core.internal.engine.DeviceResources}: what the connections over one device share.
 * </ul>
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.core.internal.engine.Loop} and {@link io.rdmacm.core.internal.engine.Link}.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.core}, {@link io.rdmacm.verbs} and {@code io.rdmacm.verbs.internal.wait}.
 */
@org.jspecify.annotations.NullMarked
package io.rdmacm.core.internal.engine;
