// SPDX-License-Identifier: Apache-2.0

/**
 * Addressing: GIDs, GUIDs, address vectors, and the rates and timeouts of a path.
 *
 * <h2>What lives here</h2>
 * Immutable values for {@code struct ibv_ah_attr}, {@code union ibv_gid} and their parts. Numbers are in the byte order
 * of the machine. A GID or GUID that is represented as a number has its first byte on the wire as the most significant
 * one.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.address.Gid},
 * {@link io.rdmacm.verbs.address.AddressAttributes} (the address vector of a peer),
 * {@link io.rdmacm.verbs.address.GlobalRoute} (the part of it that RoCE needs).
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs.error} and {@code io.rdmacm.verbs.internal.ffi}.
 */
package io.rdmacm.verbs.address;
