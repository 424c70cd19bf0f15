// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.util.Arrays;
import java.util.function.LongConsumer;

import io.rdmacm.bindings.mlx5.mlx5dv_qp_ex;
import io.rdmacm.verbs.internal.driver.DriverCall;
import io.rdmacm.verbs.internal.driver.FunctionTable;

/**
 * The function table of a {@code struct mlx5dv_qp_ex}, which the inline functions {@code mlx5dv_wr_*} of mlx5dv.h call.
 * All of them only write to the queue. The calls of a request are prepared first; {@link #run} and {@link #accept}
 * make them while the queue is locked. None of this allocates anything.
 */
final class Mlx5BatchOps extends FunctionTable implements Runnable, LongConsumer {
    private static final long KEY = 0xffff_ffffL;
    // a key is configured, and what it allows, its layout, its signature and its encryption are set
    private static final int MOST_CALLS = 5;

    // by the places of their pointers; null until the first call
    private final DriverCall[] functions = new DriverCall[(int) (mlx5dv_qp_ex.sizeof() / Long.BYTES)];
    private final Call[] calls = new Call[MOST_CALLS];
    private int count;

    /** A call of a function, whose first argument is the queue. */
    private static final class Call {
        private long offset;
        private long a;
        private long b;
        private long c;
        private long d;
        private long e;
    }

    Mlx5BatchOps(long queue) {
        super(queue);
        Arrays.setAll(calls, i -> new Call());
    }

    private void first(long offset, long a, long b, long c, long d, long e) {
        count = 0;
        next(offset, a, b, c, d, e);
    }

    private void next(long offset, long a, long b, long c, long d, long e) {
        Call call = calls[count];
        call.offset = offset;
        call.a = a;
        call.b = b;
        call.c = c;
        call.d = d;
        call.e = e;
        count++;
    }

    /** Makes the calls that were prepared. */
    @Override
    public void run() {
        for (int i = 0; i < count; i++) {
            make(calls[i]);
        }
    }

    /** Makes the call that sets a target, with the address of its handle. */
    @Override
    public void accept(long handle) {
        calls[0].a = handle;
        make(calls[0]);
    }

    private void make(Call call) {
        int place = (int) (call.offset / Long.BYTES);
        DriverCall function = functions[place];
        if (function == null) {
            function = withManyAt(call.offset);
            functions[place] = function;
        }
        function.call(struct, call.a, call.b, call.c, call.d, call.e);
    }

    /** {@code mlx5dv_wr_set_dc_addr}, without the handle. */
    void setDcAddr(int number, long key) {
        first(mlx5dv_qp_ex.wr_set_dc_addr$offset(), 0, number, key, 0, 0);
    }

    /** {@code mlx5dv_wr_set_dc_addr_stream}, without the handle. */
    void setDcAddrStream(int number, long key, int stream) {
        first(mlx5dv_qp_ex.wr_set_dc_addr_stream$offset(), 0, number, key, stream, 0);
    }

    /** {@code mlx5dv_wr_mr_interleaved}. */
    void interleaved(long mkey, int access, int repetitions, int parts, long structs) {
        first(mlx5dv_qp_ex.wr_mr_interleaved$offset(), mkey, access, repetitions, parts, structs);
    }

    /** {@code mlx5dv_wr_mr_list}. */
    void list(long mkey, int access, int parts, long structs) {
        first(mlx5dv_qp_ex.wr_mr_list$offset(), mkey, access, parts, structs, 0);
    }

    /** {@code mlx5dv_wr_mkey_configure}; the setters follow. */
    void configure(long mkey, int setters, long attributes) {
        first(mlx5dv_qp_ex.wr_mkey_configure$offset(), mkey, setters, attributes, 0, 0);
    }

    /** {@code mlx5dv_wr_set_mkey_access_flags}. */
    void setAccess(int access) {
        next(mlx5dv_qp_ex.wr_set_mkey_access_flags$offset(), access, 0, 0, 0, 0);
    }

    /** {@code mlx5dv_wr_set_mkey_layout_list}. */
    void setList(int parts, long structs) {
        next(mlx5dv_qp_ex.wr_set_mkey_layout_list$offset(), parts, structs, 0, 0, 0);
    }

    /** {@code mlx5dv_wr_set_mkey_layout_interleaved}. */
    void setInterleaved(int repetitions, int parts, long structs) {
        next(mlx5dv_qp_ex.wr_set_mkey_layout_interleaved$offset(), repetitions, parts, structs, 0, 0);
    }

    /** {@code mlx5dv_wr_set_mkey_sig_block}. */
    void setSignature(long attributes) {
        next(mlx5dv_qp_ex.wr_set_mkey_sig_block$offset(), attributes, 0, 0, 0, 0);
    }

    /** {@code mlx5dv_wr_set_mkey_crypto}. */
    void setEncryption(long attributes) {
        next(mlx5dv_qp_ex.wr_set_mkey_crypto$offset(), attributes, 0, 0, 0, 0);
    }

    /** {@code mlx5dv_wr_raw_wqe}. */
    void raw(long entry) {
        first(mlx5dv_qp_ex.wr_raw_wqe$offset(), entry, 0, 0, 0, 0);
    }

    /** {@code mlx5dv_wr_memcpy}. */
    void copy(int toKey, long to, int fromKey, long from, long length) {
        first(mlx5dv_qp_ex.wr_memcpy$offset(), toKey & KEY, to, fromKey & KEY, from, length);
    }
}
