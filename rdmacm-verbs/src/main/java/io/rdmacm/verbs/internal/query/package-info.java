// SPDX-License-Identifier: Apache-2.0

/**
 * The queries of a context that return values: attributes, ports, GIDs, partition keys. Exported to nobody, because
 * they take the address of a context.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.internal.query.DeviceQueries}, {@link io.rdmacm.verbs.internal.query.PortQueries}. Programs
 * call them through {@link io.rdmacm.verbs.VerbsContext}.
 *
 * <h2>What it stands on</h2>
 * {@code io.rdmacm.verbs.internal.codec} for the structs, {@code io.rdmacm.verbs.internal.driver} for functions that a
 * driver may lack.
 */
package io.rdmacm.verbs.internal.query;
