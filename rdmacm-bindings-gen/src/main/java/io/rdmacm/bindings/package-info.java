// SPDX-License-Identifier: Apache-2.0
/**
 * The plain C API of librdmacm and libibverbs: functions and constants are static methods of
 * {@link io.rdmacm.bindings.Rdma}, and each struct or union has a class of the same name with its layout and members.
 *
 * <p>Generated from the headers by jextract, except {@link io.rdmacm.bindings.NativeLibrary},
 * {@link io.rdmacm.bindings.CFunction} and {@link io.rdmacm.bindings.Repoll}. The bindings do not capture errno, do not
 * convert byte orders ({@code __be16}, {@code __be32} and {@code __be64} members are in network byte order), and do not
 * have the functions that the headers define inline. {@code ibv_query_port} and {@code ibv_reg_mr} are the exported
 * functions, not the macros of the same names.
 */
package io.rdmacm.bindings;
