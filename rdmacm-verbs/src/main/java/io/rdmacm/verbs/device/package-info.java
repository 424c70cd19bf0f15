// SPDX-License-Identifier: Apache-2.0

/**
 * What a device and its ports are and can do.
 *
 * <h2>What lives here</h2>
 * Values only: the attributes that {@code ibv_query_device_ex(3)} and {@code ibv_query_port(3)} report, the sets of
 * capabilities in them, and the types of asynchronous events. Nothing here is opened or closed, and all of it is
 * immutable.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.device.DeviceAttributes} and {@link io.rdmacm.verbs.device.DeviceAttributesEx} for the limits
 * of a device, {@link io.rdmacm.verbs.device.PortAttributes} for the state of a port;
 * {@link io.rdmacm.verbs.device.FlagSet} for how sets keep bits that this library has no name for.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs.queue} and {@link io.rdmacm.verbs.address} for the types in the attributes, and
 * {@link io.rdmacm.verbs.error}.
 */
package io.rdmacm.verbs.device;
