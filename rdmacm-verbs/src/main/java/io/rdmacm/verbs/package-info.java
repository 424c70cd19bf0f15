// SPDX-License-Identifier: Apache-2.0

/**
 * The objects of libibverbs. Names are those of C in full words: {@code ibv_reg_mr} is
 * {@link io.rdmacm.verbs.ProtectionDomain#register}, {@code ibv_poll_cq} is
 * {@link io.rdmacm.verbs.CompletionQueue#poll}. What all objects have in common is told in
 * {@link io.rdmacm.verbs.NativeObject}.
 */
package io.rdmacm.verbs;
