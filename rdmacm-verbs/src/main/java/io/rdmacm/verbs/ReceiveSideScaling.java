// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.device.RxHashFunction;

/**
 * How a queue pair distributes received packets over work queues ({@code rwq_ind_tbl} and {@code rx_hash_conf} of
 * {@code struct ibv_qp_init_attr_ex}, ibv_create_qp_ex(3)): a hash of the packet's headers selects an entry of the
 * table. Immutable.
 *
 * @param table the work queues; it cannot be closed while the queue pair is open
 * @param function the hash function
 * @param key the key of the hash function, from 1 to 255 bytes
 * @param fields the header fields that are hashed; which combinations are supported depends on the device
 */
public record ReceiveSideScaling(IndirectionTable table, RxHashFunction function, byte[] key,
        Set<RxHashField> fields) {
    private static final int LONGEST_KEY = 0xff;

    /**
     * Checks the key, and copies the key and the fields.
     *
     * @throws NullPointerException if one of them is null
     * @throws IllegalArgumentException if the key is empty or longer than 255 bytes
     */
    public ReceiveSideScaling {
        Objects.requireNonNull(table, "table");
        Objects.requireNonNull(function, "function");
        if (key.length == 0 || key.length > LONGEST_KEY) {
            throw new IllegalArgumentException("the hash key must have 1 to " + LONGEST_KEY + " bytes, not "
                    + key.length);
        }
        key = key.clone();
        Set<RxHashField> ordered = EnumSet.noneOf(RxHashField.class);
        ordered.addAll(fields);
        fields = Collections.unmodifiableSet(ordered);
    }

    /** {@return a copy of the key} */
    @Override
    public byte[] key() {
        return key.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ReceiveSideScaling(IndirectionTable itsTable, RxHashFunction itsFunction,
                byte[] itsKey, Set<RxHashField> itsFields)
                && itsTable == table && itsFunction == function && Arrays.equals(itsKey, key)
                && itsFields.equals(fields);
    }

    @Override
    public int hashCode() {
        return Objects.hash(table, function, Arrays.hashCode(key), fields);
    }

    @Override
    public String toString() {
        return "ReceiveSideScaling[" + table + ", " + function + " with a key of " + key.length + " bytes over "
                + fields + "]";
    }
}
