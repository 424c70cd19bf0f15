// SPDX-License-Identifier: Apache-2.0

/**
 * The functions that drivers provide as pointers in structs, and the differences between drivers. Not exported.
 *
 * <h2>What lives here</h2>
 * The inline functions of verbs.h call through {@code ibv_context.ops}, {@code verbs_context}, {@code ibv_qp_ex} and
 * {@code ibv_cq_ex}; there is one class for each of these tables. A function of the data path becomes a
 * {@link io.rdmacm.verbs.internal.driver.DriverCall}: a hidden class whose target address is a constant, so that the
 * compiled call is as short as one in C.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.internal.driver.DriverCall}, {@link io.rdmacm.verbs.internal.driver.ContextOps},
 * {@link io.rdmacm.verbs.internal.driver.DriverQuirks} (which drivers stay in user space, and which bugs have to be
 * worked around).
 *
 * <h2>What it stands on</h2>
 * {@code io.rdmacm.verbs.internal.ffi}.
 */
package io.rdmacm.verbs.internal.driver;
