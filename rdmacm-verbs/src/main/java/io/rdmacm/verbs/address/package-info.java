// SPDX-License-Identifier: Apache-2.0

/**
 * How a packet finds its way: GIDs, GUIDs, and the address vectors made of them.
 *
 * <h2>What lives here</h2>
 * Immutable values for {@code struct ibv_ah_attr}, {@code union ibv_gid} and their parts. GIDs and GUIDs are in network
 * byte order, as they travel; numbers are in the byte order of the machine.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.address.Gid}, {@link io.rdmacm.verbs.address.AddressAttributes} (the address vector of a peer),
 * {@link io.rdmacm.verbs.address.GlobalRoute} (the part of it that RoCE needs).
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs.error}.
 */
package io.rdmacm.verbs.address;
