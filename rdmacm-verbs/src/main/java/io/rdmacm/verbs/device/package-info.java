// SPDX-License-Identifier: Apache-2.0

/**
 * The attributes and capabilities of devices and their ports.
 *
 * <h2>What lives here</h2>
 * Immutable values, nothing that is opened or closed: the attributes that ibv_query_device_ex(3) and ibv_query_port(3)
 * report, the capabilities in them, and the types of asynchronous events. The one exception is
 * {@link io.rdmacm.verbs.device.ForkSupport}, which sets a mode of the whole process.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.device.DeviceAttributes} and {@link io.rdmacm.verbs.device.DeviceAttributesEx} for the limits
 * of a device, {@link io.rdmacm.verbs.device.PortAttributes} for the state of a port, and
 * {@link io.rdmacm.verbs.work.FlagSet} for how a set keeps bits that this library has no name for.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs.address}, {@link io.rdmacm.verbs.queue} and {@link io.rdmacm.verbs.work} for the types of the
 * attributes, and {@link io.rdmacm.verbs.error}.
 */
package io.rdmacm.verbs.device;
