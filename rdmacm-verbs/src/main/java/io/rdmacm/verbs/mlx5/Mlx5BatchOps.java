// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import io.rdmacm.bindings.mlx5.mlx5dv_qp_ex;
import io.rdmacm.verbs.internal.driver.DriverCall;
import io.rdmacm.verbs.internal.driver.FunctionTable;

/**
 * The function table of a {@code struct mlx5dv_qp_ex}, which the inline functions {@code mlx5dv_wr_*} of mlx5dv.h call.
 * All of them only write to the queue, which has to be locked. None of this allocates anything.
 */
final class Mlx5BatchOps extends FunctionTable {
    private static final long KEY = 0xffff_ffffL;

    // by the places of their pointers; null until the first call
    private final DriverCall[] functions = new DriverCall[(int) (mlx5dv_qp_ex.sizeof() / Long.BYTES)];

    Mlx5BatchOps(long queue) {
        super(queue);
    }

    private void call(long offset, long a, long b, long c, long d, long e) {
        int place = (int) (offset / Long.BYTES);
        DriverCall function = functions[place];
        if (function == null) {
            function = withManyAt(offset);
            functions[place] = function;
        }
        function.call(struct, a, b, c, d, e);
    }

    /** {@code mlx5dv_wr_set_dc_addr}. */
    void setDcAddr(long handle, int number, long key) {
        call(mlx5dv_qp_ex.wr_set_dc_addr$offset(), handle, number, key, 0, 0);
    }

    /** {@code mlx5dv_wr_set_dc_addr_stream}. */
    void setDcAddrStream(long handle, int number, long key, int stream) {
        call(mlx5dv_qp_ex.wr_set_dc_addr_stream$offset(), handle, number, key, stream, 0);
    }

    /** {@code mlx5dv_wr_mr_interleaved}. */
    void interleaved(long mkey, int access, int repetitions, int parts, long structs) {
        call(mlx5dv_qp_ex.wr_mr_interleaved$offset(), mkey, access, repetitions, parts, structs);
    }

    /** {@code mlx5dv_wr_mr_list}. */
    void list(long mkey, int access, int parts, long structs) {
        call(mlx5dv_qp_ex.wr_mr_list$offset(), mkey, access, parts, structs, 0);
    }

    /** {@code mlx5dv_wr_mkey_configure}; the setters follow. */
    void configure(long mkey, int setters, long attributes) {
        call(mlx5dv_qp_ex.wr_mkey_configure$offset(), mkey, setters, attributes, 0, 0);
    }

    /** {@code mlx5dv_wr_set_mkey_access_flags}. */
    void setAccess(int access) {
        call(mlx5dv_qp_ex.wr_set_mkey_access_flags$offset(), access, 0, 0, 0, 0);
    }

    /** {@code mlx5dv_wr_set_mkey_layout_list}. */
    void setList(int parts, long structs) {
        call(mlx5dv_qp_ex.wr_set_mkey_layout_list$offset(), parts, structs, 0, 0, 0);
    }

    /** {@code mlx5dv_wr_set_mkey_layout_interleaved}. */
    void setInterleaved(int repetitions, int parts, long structs) {
        call(mlx5dv_qp_ex.wr_set_mkey_layout_interleaved$offset(), repetitions, parts, structs, 0, 0);
    }

    /** {@code mlx5dv_wr_set_mkey_sig_block}. */
    void setSignature(long attributes) {
        call(mlx5dv_qp_ex.wr_set_mkey_sig_block$offset(), attributes, 0, 0, 0, 0);
    }

    /** {@code mlx5dv_wr_set_mkey_crypto}. */
    void setEncryption(long attributes) {
        call(mlx5dv_qp_ex.wr_set_mkey_crypto$offset(), attributes, 0, 0, 0, 0);
    }

    /** {@code mlx5dv_wr_raw_wqe}. */
    void raw(long entry) {
        call(mlx5dv_qp_ex.wr_raw_wqe$offset(), entry, 0, 0, 0, 0);
    }

    /** {@code mlx5dv_wr_memcpy}. */
    void copy(int toKey, long to, int fromKey, long from, long length) {
        call(mlx5dv_qp_ex.wr_memcpy$offset(), toKey & KEY, to, fromKey & KEY, from, length);
    }
}
