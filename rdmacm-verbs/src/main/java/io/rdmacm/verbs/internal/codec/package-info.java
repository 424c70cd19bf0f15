// SPDX-License-Identifier: Apache-2.0

/**
 * Between the C structs and the values of Java. Exported to io.rdmacm.core only, for it takes addresses.
 *
 * <h2>What lives here</h2>
 * A class for each family of structs, with methods that read one into a value and write a value into one, and the
 * table of the transitions of a queue pair. The structs that name other objects (init attributes) are written in
 * {@link io.rdmacm.verbs}, where their addresses are.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.internal.codec.AddressStructs}, {@link io.rdmacm.verbs.internal.codec.DeviceStructs},
 * {@link io.rdmacm.verbs.internal.codec.TransitionTable}.
 *
 * <h2>What it stands on</h2>
 * The values ({@link io.rdmacm.verbs.device}, {@link io.rdmacm.verbs.address}, {@link io.rdmacm.verbs.queue}) and
 * {@code io.rdmacm.verbs.internal.ffi}.
 */
package io.rdmacm.verbs.internal.codec;
