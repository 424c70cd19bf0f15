// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_rwq_ind_table;
import io.rdmacm.bindings.ibv_rwq_ind_table_init_attr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * A table of work queues ({@code struct ibv_rwq_ind_table}, ibv_create_rwq_ind_table(3)). A hash of a packet's headers
 * selects the entry, and so the work queue that receives the packet. A queue pair uses the table through
 * {@link ReceiveSideScaling}.
 */
@CFunction("ibv_destroy_rwq_ind_table")
public final class IndirectionTable extends NativeObject {
    private final VerbsContext context;
    private final List<WorkQueue> queues;
    private final int number;

    private IndirectionTable(VerbsContext context, List<WorkQueue> queues, Lifetime life, long address) {
        super(life, address, ibv_rwq_ind_table.sizeof());
        this.context = context;
        this.queues = queues;
        this.number = Memory.getInt(address + ibv_rwq_ind_table.ind_tbl_num$offset());
        String text = queues.size() + " entries, 0x" + Integer.toHexString(number);
        life.describe(() -> text);
    }

    static IndirectionTable create(VerbsContext context, List<WorkQueue> queues) throws RdmaException {
        List<WorkQueue> entries = List.copyOf(queues);
        if (Integer.bitCount(entries.size()) != 1) {
            throw new IllegalArgumentException("the size of an indirection table must be a power of two, not "
                    + entries.size());
        }
        Set<Lifetime> parents = new LinkedHashSet<>(List.of(context.life()));
        for (WorkQueue queue : entries) {
            if (queue.protectionDomain().context() != context) {
                throw new IllegalArgumentException("the work queue belongs to another context: " + queue);
            }
            parents.add(queue.life());
        }
        return Lifetime.make(IndirectionTable.class, parents, arena -> {
            MemorySegment table = arena.allocate(ValueLayout.JAVA_LONG, entries.size());
            for (int i = 0; i < entries.size(); i++) {
                table.setAtIndex(ValueLayout.JAVA_LONG, i, entries.get(i).address());
            }
            long init = arena.allocate(ibv_rwq_ind_table_init_attr.layout()).address();
            Memory.putInt(init + ibv_rwq_ind_table_init_attr.log_ind_tbl_size$offset(),
                    Integer.numberOfTrailingZeros(entries.size()));
            Memory.putLong(init + ibv_rwq_ind_table_init_attr.ind_tbl$offset(), table.address());
            NativeFunction create = ExtendedOps.CREATE_RWQ_IND_TABLE.require(context.address());
            return Check.pointer(create, entries.size() + " entries", create.callLong(context.address(), init));
        }, ExtendedOps.DESTROY_RWQ_IND_TABLE.freer(context.address()),
                (life, address) -> new IndirectionTable(context, entries, life, address));
    }

    /** {@return the context of the device that this table belongs to} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /** {@return the number that the driver gave this table ({@code ind_tbl_num})} */
    public int number() {
        life().ensureOpen();
        return number;
    }

    /** {@return the work queues, in the order of the entries} */
    public List<WorkQueue> queues() {
        life().ensureOpen();
        return queues;
    }
}
