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
 * @param type the type of the rule
 * @param flags the options of the rule
 * @param priority the priority, 16 bits; 0 is the highest, and rules with a higher priority are tried first
 * @param port the number of the port, starting at 1; 8 bits
 * @param specifications what packets must look like, and what else the device does with them; in any order, except that
 *        with MPLS they must be in the order of the headers in the packet
 */
public record FlowAttributes(FlowType type, Set<FlowFlag> flags, int priority, int port,
        List<FlowSpecification> specifications) {
    private static final int MOST_SPECIFICATIONS = 0xff;

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if a number does not fit into its field, there are more than 255 specifications,
     *         or DONT_TRAP is set for a type other than NORMAL
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
            throw new IllegalArgumentException("ports are numbered from 1, not 0");
        }
        specifications = List.copyOf(specifications);
        if (specifications.size() > MOST_SPECIFICATIONS) {
            throw new IllegalArgumentException("a flow has at most " + MOST_SPECIFICATIONS + " specifications, not "
                    + specifications.size());
        }
    }

    /**
     * Returns the rule in the form used by C.
     *
     * @param arena the arena to allocate from
     * @return a new {@code struct ibv_flow_attr}, followed by its specifications
     * @throws IllegalStateException if a flow action or counters of this rule are closed
     */
    MemorySegment toNative(Arena arena) {
        return FlowStructs.write(this, arena);
    }

    /** {@return a builder that starts with type NORMAL, port 1, the highest priority and no specifications} */
    public static Builder builder() {
        return new Builder();
    }

    /** Builds {@link FlowAttributes}. Not thread-safe. */
    public static final class Builder {
        private FlowType type = FlowType.NORMAL;
        private final Set<FlowFlag> flags = EnumSet.noneOf(FlowFlag.class);
        private int priority;
        private int port = 1;
        private final List<FlowSpecification> specifications = new ArrayList<>();

        private Builder() {
        }

        /**
         * Sets the type of the rule.
         *
         * @param value the type
         * @return this builder
         */
        public Builder type(FlowType value) {
            type = value;
            return this;
        }

        /**
         * Adds options.
         *
         * @param values the options, in addition to earlier ones
         * @return this builder
         */
        public Builder flags(FlowFlag... values) {
            flags.addAll(Arrays.asList(values));
            return this;
        }

        /**
         * Sets the priority.
         *
         * @param value 16 bits; 0 is the highest priority
         * @return this builder
         */
        public Builder priority(int value) {
            priority = value;
            return this;
        }

        /**
         * Sets the port.
         *
         * @param number the number of the port, starting at 1
         * @return this builder
         */
        public Builder port(int number) {
            port = number;
            return this;
        }

        /**
         * Adds headers that packets must have.
         *
         * @param headers the headers, appended to the specifications
         * @return this builder
         */
        public Builder match(FlowMatch... headers) {
            specifications.addAll(Arrays.asList(headers));
            return this;
        }

        /**
         * Adds an action that tags the completions of the packets with a number.
         *
         * @param id the tag, see {@link FlowSpecification.Tag}
         * @return this builder
         */
        public Builder tag(int id) {
            specifications.add(new FlowSpecification.Tag(id));
            return this;
        }

        /**
         * Adds an action that drops the packets.
         *
         * @return this builder
         */
        public Builder drop() {
            specifications.add(new FlowSpecification.Drop());
            return this;
        }

        /**
         * Adds a flow action to apply to the packets.
         *
         * @param action a flow action of the same context as the queue pair
         * @return this builder
         */
        public Builder action(FlowAction action) {
            specifications.add(new FlowSpecification.Handle(action));
            return this;
        }

        /**
         * Adds an action that counts the packets.
         *
         * @param counters counters of the same context as the queue pair, see {@link FlowSpecification.Count}
         * @return this builder
         */
        public Builder count(Counters counters) {
            specifications.add(new FlowSpecification.Count(counters));
            return this;
        }

        /**
         * Builds the rule.
         *
         * @return the rule
         * @throws IllegalArgumentException if a number does not fit into its field, there are more than 255
         *         specifications, or DONT_TRAP is set for a type other than NORMAL
         */
        public FlowAttributes build() {
            return new FlowAttributes(type, flags, priority, port, specifications);
        }
    }
}
