// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.efa.efadv_cq;
import io.rdmacm.bindings.efa.efadv_cq_init_attr;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.driver.DriverCall;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue of an EFA device that tells who sent a message (efadv_create_cq(3)). It can be used wherever an
 * {@link ExtendedCompletionQueue} can. The methods of this class read the completion that the cursor of the queue is
 * on:
 *
 * <pre>{@code
 * try (CompletionCursor completion = queue.startPoll()) {
 *     while (completion.next()) {
 *         Optional<Gid> stranger = queue.sourceGid();
 *     }
 * }
 * }</pre>
 *
 * <p>Not run on a card: tested with the driver of rdma-core over a stand-in for the kernel and the card.
 */
public final class EfaCompletionQueue extends ExtendedCompletionQueue {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction CREATE = NativeFunction.of("efadv_create_cq");
    private static final NativeFunction FROM_CQ_EX = NativeFunction.of("efadv_cq_from_ibv_cq_ex");
    private static final int ARGUMENTS = 2;

    private final List<EfaCompletionField> fields;
    private final long extension;
    // null if the queue was created without the field
    private final @Nullable DriverCall readSgid;
    private final @Nullable DriverCall isUnsolicited;

    private EfaCompletionQueue(Created created, List<EfaCompletionField> fields, long extension) {
        super(created);
        this.fields = fields;
        this.extension = extension;
        this.readSgid = fields.contains(EfaCompletionField.SGID)
                ? call(extension + efadv_cq.wc_read_sgid$offset()) : null;
        this.isUnsolicited = fields.contains(EfaCompletionField.IS_UNSOLICITED)
                ? call(extension + efadv_cq.wc_is_unsolicited$offset()) : null;
    }

    private static DriverCall call(long pointer) {
        // reads memory only
        return DriverCall.of(Memory.getLong(pointer), true, ARGUMENTS);
    }

    /**
     * Creates a completion queue ({@code efadv_create_cq}).
     *
     * @param context an EFA device
     * @param attributes the attributes of every extended completion queue; a channel only if the device has completion
     *        events
     * @param fields what the queue tells in addition
     * @return the new queue
     * @throws NativeLibraryException if libefa is not installed
     * @throws RdmaUnsupportedException if it is not an EFA device, or it does not know a field
     * @throws RdmaException EINVAL if the device does not allow the capacity; ENOMEM
     */
    @CFunction({"efadv_create_cq", "efadv_cq_from_ibv_cq_ex"})
    public static EfaCompletionQueue create(VerbsContext context, CompletionQueueInitAttributes attributes,
            EfaCompletionField... fields) throws RdmaException {
        List<EfaCompletionField> wanted = List.of(fields);
        return create(EfaCompletionQueue.class, context, attributes, (init, arena) -> {
            long struct = arena.allocate(efadv_cq_init_attr.layout()).address();
            Memory.putLong(struct + efadv_cq_init_attr.wc_flags$offset(), Flags.mask(wanted, EfaCompletionField::bit));
            FROM_CQ_EX.require();
            return Check.pointer(CREATE, attributes + ", " + wanted,
                    CREATE.callLong(VERBS.addressOf(context), init, struct, efadv_cq_init_attr.sizeof()));
        }, created -> new EfaCompletionQueue(created, wanted, FROM_CQ_EX.callLong(created.address())));
    }

    /**
     * Returns the GID of the sender of the message that the cursor is on ({@code efadv_wc_read_sgid}). With it the
     * program can create an address handle to answer.
     *
     * @return the GID; empty if there is an address handle for the sender: its number is then
     *         {@link io.rdmacm.verbs.CompletionCursor#sourceLid()}
     * @throws IllegalStateException if there is no current completion, or the queue was created without the field
     * @throws RdmaException if the driver fails
     */
    @CFunction("efadv_wc_read_sgid")
    public Optional<Gid> sourceGid() throws RdmaException {
        DriverCall read = require(readSgid, EfaCompletionField.SGID);
        try (Arena arena = Arena.ofConfined()) {
            long gid = arena.allocate(Gid.BYTES, Long.BYTES).address();
            int error = Math.abs((int) readCurrent(read, extension, gid));
            if (error == Rdma.ENOENT()) {
                return Optional.empty();
            }
            if (error != 0) {
                throw Failures.of("efadv_wc_read_sgid", error);
            }
            return Optional.of(Gid.of(Memory.bytes(gid, Gid.BYTES)));
        }
    }

    /**
     * Returns whether the message that the cursor is on consumed no receive ({@code efadv_wc_is_unsolicited}): a write
     * with an immediate value to a queue pair with {@link EfaQueuePairFlag#UNSOLICITED_WRITE_RECV}. Its completion has
     * the work request id 0.
     *
     * @return true if no receive was consumed
     * @throws IllegalStateException if there is no current completion, or the queue was created without the field
     */
    @CFunction("efadv_wc_is_unsolicited")
    public boolean isUnsolicited() {
        DriverCall read = require(isUnsolicited, EfaCompletionField.IS_UNSOLICITED);
        // a C bool: the upper bits are undefined
        return (readCurrent(read, extension, 0) & 1) != 0;
    }

    private DriverCall require(@Nullable DriverCall call, EfaCompletionField field) {
        life().ensureOpen();
        if (call == null) {
            throw new IllegalStateException("the completion queue was created without " + field);
        }
        return call;
    }

    /** {@return what the queue tells in addition, in the order in which it was asked for} */
    public List<EfaCompletionField> efaFields() {
        life().ensureOpen();
        return fields;
    }
}
