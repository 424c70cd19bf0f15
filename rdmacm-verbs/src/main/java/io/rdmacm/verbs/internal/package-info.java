// SPDX-License-Identifier: Apache-2.0

/**
 * What the object layers stand on: downcalls, which are made nowhere else
 * ({@link io.rdmacm.verbs.internal.NativeFunction} on the control path, {@link io.rdmacm.verbs.internal.DriverCall} on
 * the data path), error numbers, the lifecycle of native objects, and waiting for events. Not part of the API.
 */
package io.rdmacm.verbs.internal;
