// SPDX-License-Identifier: Apache-2.0

/**
 * Conversion between C structs and Java values. Exported to io.rdmacm.core only, because its methods take addresses.
 *
 * <h2>What lives here</h2>
 * A class for each family of structs, with methods that read a struct into a value or write a value into a struct, and
 * the table of the state transitions of a queue pair. Structs that refer to other objects (init attributes) are written
 * in {@link io.rdmacm.verbs}, which knows the addresses of these objects.
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
