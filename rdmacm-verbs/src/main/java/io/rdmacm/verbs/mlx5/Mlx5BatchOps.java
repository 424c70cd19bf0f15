// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import io.rdmacm.bindings.mlx5.mlx5dv_qp_ex;
import io.rdmacm.verbs.internal.driver.DriverCall;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * The function table of a {@code struct mlx5dv_qp_ex}, which the inline functions {@code mlx5dv_wr_*} of mlx5dv.h call.
 * All of them only write to the queue. Each pointer is read once, by the first call.
 */
final class Mlx5BatchOps {
    private static final long KEY = 0xffff_ffffL;

    private final long queue;
    // each is null until the first call
    private final DriverCall[] calls = new DriverCall[(int) (mlx5dv_qp_ex.sizeof() / Long.BYTES)];

    Mlx5BatchOps(long queue) {
        this.queue = queue;
    }

    private DriverCall function(long offset, int arguments) {
        int index = (int) (offset / Long.BYTES);
        DriverCall call = calls[index];
        if (call == null) {
            call = DriverCall.of(Memory.getLong(queue + offset), true, arguments);
            calls[index] = call;
        }
        return call;
    }

    /** {@code mlx5dv_wr_set_dc_addr}. */
    void setDcAddr(long handle, int number, long key) {
        function(mlx5dv_qp_ex.wr_set_dc_addr$offset(), 4).call(queue, handle, number, key);
    }

    /** {@code mlx5dv_wr_set_dc_addr_stream}. */
    void setDcAddrStream(long handle, int number, long key, int stream) {
        function(mlx5dv_qp_ex.wr_set_dc_addr_stream$offset(), 5).call(queue, handle, number, key, stream);
    }

    /** {@code mlx5dv_wr_mr_interleaved}. */
    void interleaved(long mkey, int access, int repetitions, int count, long parts) {
        function(mlx5dv_qp_ex.wr_mr_interleaved$offset(), 6).call(queue, mkey, access, repetitions, count, parts);
    }

    /** {@code mlx5dv_wr_mr_list}. */
    void list(long mkey, int access, int count, long parts) {
        function(mlx5dv_qp_ex.wr_mr_list$offset(), 5).call(queue, mkey, access, count, parts);
    }

    /** {@code mlx5dv_wr_mkey_configure}. */
    void configure(long mkey, int setters, long attributes) {
        function(mlx5dv_qp_ex.wr_mkey_configure$offset(), 4).call(queue, mkey, setters, attributes);
    }

    /** {@code mlx5dv_wr_set_mkey_access_flags}. */
    void setAccess(int access) {
        function(mlx5dv_qp_ex.wr_set_mkey_access_flags$offset(), 2).call(queue, access);
    }

    /** {@code mlx5dv_wr_set_mkey_layout_list}. */
    void setList(int count, long parts) {
        function(mlx5dv_qp_ex.wr_set_mkey_layout_list$offset(), 3).call(queue, count, parts);
    }

    /** {@code mlx5dv_wr_set_mkey_layout_interleaved}. */
    void setInterleaved(int repetitions, int count, long parts) {
        function(mlx5dv_qp_ex.wr_set_mkey_layout_interleaved$offset(), 4).call(queue, repetitions, count, parts);
    }

    /** {@code mlx5dv_wr_set_mkey_sig_block}. */
    void setSignature(long attributes) {
        function(mlx5dv_qp_ex.wr_set_mkey_sig_block$offset(), 2).call(queue, attributes);
    }

    /** {@code mlx5dv_wr_set_mkey_crypto}. */
    void setEncryption(long attributes) {
        function(mlx5dv_qp_ex.wr_set_mkey_crypto$offset(), 2).call(queue, attributes);
    }

    /** {@code mlx5dv_wr_raw_wqe}. */
    void raw(long entry) {
        function(mlx5dv_qp_ex.wr_raw_wqe$offset(), 2).call(queue, entry);
    }

    /** {@code mlx5dv_wr_memcpy}. */
    void copy(int toKey, long to, int fromKey, long from, long length) {
        function(mlx5dv_qp_ex.wr_memcpy$offset(), 6).call(queue, toKey & KEY, to, fromKey & KEY, from, length);
    }
}
