// SPDX-License-Identifier: Apache-2.0

/**
 * What the object layers stand on: the one place that makes downcalls
 * ({@link io.rdmacm.verbs.internal.NativeFunction} for the control path, {@link io.rdmacm.verbs.internal.FastPath} for
 * the data path), error numbers, the lifecycle of native objects and waiting for events. Not part of the API.
 */
package io.rdmacm.verbs.internal;
