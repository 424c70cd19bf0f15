// SPDX-License-Identifier: Apache-2.0

/**
 * Access to C: the only package that uses the linker. Exported to io.rdmacm.core only, because its methods take and
 * return addresses.
 *
 * <h2>What lives here</h2>
 * Downcalls of the control path and the libraries they come from, native memory by address, errno and its names, and
 * the small conversions between Java and C values. The calls of the data path are in
 * {@code io.rdmacm.verbs.internal.driver}.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.internal.ffi.NativeFunction} (a C function that captures errno),
 * {@link io.rdmacm.verbs.internal.ffi.Check} (the ways in which C functions report errors),
 * {@link io.rdmacm.verbs.internal.ffi.Memory} (reads and writes by address).
 *
 * <h2>What it stands on</h2>
 * {@code io.rdmacm.bindings} for layouts and constants, {@link io.rdmacm.verbs.error}.
 */
package io.rdmacm.verbs.internal.ffi;
