// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.WorkCompletions;

/**
 * One completion of a work request, wherever it is read from ({@code struct ibv_wc}, ibv_poll_cq(3)):
 * <ul>
 * <li>a {@link WorkCompletion} is a copy to keep,
 * <li>{@link WorkCompletions} is the one of a polled batch that it stands on,
 * <li>a {@link CompletionCursor} is the one of an {@link ExtendedCompletionQueue} that it stands on.
 * </ul>
 *
 * <p>For code that handles completions of any origin. Loops that count nanoseconds use the three classes by their own
 * names; they are final, so that calls go straight to the method. When the status is not a success, only the work
 * request id, the status, the vendor error and the queue pair number are valid. {@link WorkCompletions} and
 * {@link CompletionCursor} throw IllegalStateException when they stand on no completion, and a cursor also for what its
 * queue was created without.
 */
public interface Completion {
    /** Returns the id that the program gave the work request ({@code wr_id}). */
    long workRequestId();

    /** Returns whether the work request succeeded: whether the status is {@link WorkCompletionStatus#SUCCESS}. */
    boolean succeeded();

    /** Returns how the work request ended ({@code status}). */
    WorkCompletionStatus status();

    /** Returns what the work request was ({@code opcode}); only of successful ones. */
    WorkCompletionOpcode opcode();

    /** Returns the device's own code of an error ({@code vendor_err}). */
    int vendorError();

    /** Returns how many bytes were received, or read; only of successful receives, reads and atomics. */
    int byteLength();

    /** Returns whether the message came with an immediate value ({@code IBV_WC_WITH_IMM}). */
    boolean hasImmediate();

    /** Returns the immediate value of the sender, in the byte order of the machine; valid with hasImmediate(). */
    int immediate();

    /** Returns the remote key that the sender invalidated; valid with {@link WorkCompletionFlag#WITH_INV}. */
    int invalidatedKey();

    /** Returns the number of the queue pair that the work request was posted to; of 24 bits. */
    int queuePairNumber();

    /** Returns the number of the sender's queue pair; only of datagrams. */
    int sourceQueuePair();

    /**
     * Returns the bits of {@code enum ibv_wc_flags}; only of successful ones. Allocates nothing: hot loops test
     * {@code flagBits() & WorkCompletionFlag.GRH.bit()}.
     */
    int flagBits();

    /** Returns the flags as a set, which is made anew by each call; only of successful ones. */
    default FlagSet<WorkCompletionFlag> flags() {
        return WorkCompletionFlag.of(flagBits());
    }

    /** Returns whether a flag is set, without making a set; only of successful ones. */
    default boolean has(WorkCompletionFlag flag) {
        return (flagBits() & flag.bit()) != 0;
    }

    /** Returns a copy to keep. */
    WorkCompletion copy();

    /**
     * Does nothing when the work request succeeded.
     *
     * @throws WorkCompletionException otherwise
     */
    void check() throws WorkCompletionException;
}
