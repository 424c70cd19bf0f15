// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * A flow rule: which packets a queue pair receives ({@code struct ibv_flow_attr}, ibv_create_flow(3)). Immutable.
 *
 * @param type which packets it is for
 * @param flags how it works
 * @param priority 0 for the highest, 16 bits; rules are tried in this order
 * @param port of the device, from 1 on, 8 bits
 * @param specifications what packets must look like, and what else is done with them; in the order of the headers where
 *        there are labels of MPLS
 */
public record FlowAttributes(FlowType type, Set<FlowFlag> flags, int priority, int port,
        List<FlowSpecification> specifications) {
    private static final int MOST_SPECIFICATIONS = 0xff;

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when a number does not fit into its field, there are more than 255
     *         specifications, or DONT_TRAP is given for a type that has it not
     */
    public FlowAttributes {
        Objects.requireNonNull(type, "type");
        Set<FlowFlag> ordered = EnumSet.noneOf(FlowFlag.class);
        ordered.addAll(flags);
        flags = Collections.unmodifiableSet(ordered);
        if (flags.contains(FlowFlag.DONT_TRAP) && type != FlowType.NORMAL) {
            throw new IllegalArgumentException("DONT_TRAP is for rules of type NORMAL only, not " + type);
        }
        Arguments.requireBits("priority", priority, Short.SIZE);
        Arguments.requireBits("port", port, Byte.SIZE);
        if (port == 0) {
            throw new IllegalArgumentException("ports are counted from 1, not 0");
        }
        specifications = List.copyOf(specifications);
        if (specifications.size() > MOST_SPECIFICATIONS) {
            throw new IllegalArgumentException("a flow has at most " + MOST_SPECIFICATIONS + " specifications, not "
                    + specifications.size());
        }
    }

    /**
     * As C has it: a {@code struct ibv_flow_attr} with its specifications behind it.
     *
     * @param arena where it is allocated
     */
    public MemorySegment toNative(Arena arena) {
        return FlowStructs.write(this, arena);
    }

    /** Begins with a rule of type NORMAL for port 1, with the highest priority and no specifications. */
    public static Builder builder() {
        return new Builder();
    }

    /** Makes {@link FlowAttributes}. */
    public static final class Builder {
        private FlowType type = FlowType.NORMAL;
        private final Set<FlowFlag> flags = EnumSet.noneOf(FlowFlag.class);
        private int priority;
        private int port = 1;
        private final List<FlowSpecification> specifications = new ArrayList<>();

        private Builder() {
        }

        /** Which packets it is for. */
        public Builder type(FlowType value) {
            type = value;
            return this;
        }

        /** How it works; these, beside those given before. */
        public Builder flags(FlowFlag... values) {
            flags.addAll(Arrays.asList(values));
            return this;
        }

        /** When it is tried: 0 is first. */
        public Builder priority(int value) {
            priority = value;
            return this;
        }

        /** The port, from 1 on. */
        public Builder port(int number) {
            port = number;
            return this;
        }

        /** What packets must look like; after what was given before. */
        public Builder match(FlowMatch... headers) {
            specifications.addAll(Arrays.asList(headers));
            return this;
        }

        /** Marks the completions of the packets with a number. */
        public Builder tag(int id) {
            specifications.add(new FlowSpecification.Tag(id));
            return this;
        }

        /** Drops the packets. */
        public Builder drop() {
            specifications.add(new FlowSpecification.Drop());
            return this;
        }

        /** Does with the packets what a flow action says. */
        public Builder action(FlowAction action) {
            specifications.add(new FlowSpecification.Handle(action));
            return this;
        }

        /** Counts the packets. */
        public Builder count(Counters counters) {
            specifications.add(new FlowSpecification.Count(counters));
            return this;
        }

        /**
         * The rule.
         *
         * @throws IllegalArgumentException when a value is not possible
         */
        public FlowAttributes build() {
            return new FlowAttributes(type, flags, priority, port, specifications);
        }
    }
}
