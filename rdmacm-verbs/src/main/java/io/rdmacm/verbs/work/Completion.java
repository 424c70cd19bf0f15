// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

/**
 * The completion of a work request, wherever it is read from ({@code struct ibv_wc}, ibv_poll_cq(3)):
 * <ul>
 * <li>a {@link WorkCompletion} is an immutable copy,
 * <li>{@link io.rdmacm.verbs.WorkCompletions WorkCompletions} is a buffer of polled completions, positioned on one of
 * them,
 * <li>a {@link io.rdmacm.verbs.CompletionCursor CompletionCursor} is positioned on a completion of an
 * {@link io.rdmacm.verbs.ExtendedCompletionQueue ExtendedCompletionQueue}.
 * </ul>
 *
 * <p>This interface is for code that handles completions of any origin. Loops where every nanosecond counts should use
 * the three classes directly; they are final, so their methods need no interface dispatch. If the status is not
 * SUCCESS, only the work request id, the status, the vendor error and the queue pair number are valid. Buffer and
 * cursor throw IllegalStateException if they are not positioned on a completion, and the cursor also for fields that
 * its queue was created without.
 */
public interface Completion {
    /** {@return the id that the program assigned to the work request ({@code wr_id})} */
    long workRequestId();

    /** {@return whether the work request succeeded: whether its status is {@link WorkCompletionStatus#SUCCESS}} */
    boolean succeeded();

    /** {@return the status of the work request ({@code status})} */
    WorkCompletionStatus status();

    /** {@return the operation of the work request ({@code opcode}); valid only on success} */
    WorkCompletionOpcode opcode();

    /** {@return the vendor-specific error code ({@code vendor_err}); 32 bits} */
    int vendorError();

    /**
     * {@return the number of bytes transferred ({@code byte_len}); valid only for successful receives, RDMA reads and
     * atomics}
     */
    int byteLength();

    /** {@return whether the message came with an immediate value ({@code IBV_WC_WITH_IMM})} */
    boolean hasImmediate();

    /**
     * {@return the immediate value of the sender ({@code imm_data}), converted to the byte order of the machine; valid
     * only if {@link #hasImmediate()}}
     */
    int immediate();

    /**
     * {@return the remote key of this side that the sender invalidated ({@code invalidated_rkey}); valid only with
     * {@link WorkCompletionFlag#WITH_INV}}
     */
    int invalidatedKey();

    /** {@return the number of the local queue pair ({@code qp_num}), 24 bits} */
    int queuePairNumber();

    /** {@return the number of the sender's queue pair ({@code src_qp}), 24 bits; valid only for received datagrams} */
    int sourceQueuePair();

    /**
     * Returns the flags as bits ({@code wc_flags}); valid only on success. Allocates nothing: hot loops test
     * {@code flagBits() & WorkCompletionFlag.GRH.bit()}.
     *
     * @return bits of {@code enum ibv_wc_flags}
     */
    int flagBits();

    /** {@return the flags as a set, newly allocated by each call; valid only on success} */
    default FlagSet<WorkCompletionFlag> flags() {
        return WorkCompletionFlag.of(flagBits());
    }

    /**
     * Returns whether a flag is set; valid only on success. Allocates nothing.
     *
     * @param flag the flag
     * @return whether it is set
     */
    default boolean has(WorkCompletionFlag flag) {
        return (flagBits() & flag.bit()) != 0;
    }

    /** {@return an immutable copy of this completion} */
    WorkCompletion copy();

    /**
     * Throws an exception if the work request failed.
     *
     * @throws WorkCompletionException if the status is not {@link WorkCompletionStatus#SUCCESS}
     */
    void check() throws WorkCompletionException;
}
