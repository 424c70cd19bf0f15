// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.util.Objects;

import io.rdmacm.verbs.CompletionCursor;

/**
 * A part of a flow rule ({@code struct ibv_flow_spec}, ibv_create_flow(3)): either a header that packets must have
 * ({@link FlowMatch}), or an action that the device applies to matching packets.
 */
public sealed interface FlowSpecification permits FlowMatch, FlowSpecification.Tag, FlowSpecification.Drop,
        FlowSpecification.Handle, FlowSpecification.Count {
    /** {@return the type of this specification} */
    FlowSpecificationType type();

    /**
     * Tags the completions of the packets ({@code struct ibv_flow_spec_action_tag}), to be read by
     * {@link CompletionCursor#flowTag()}.
     *
     * @param id the tag; drivers support at most 24 bits
     */
    record Tag(int id) implements FlowSpecification {
        @Override
        public FlowSpecificationType type() {
            return FlowSpecificationType.ACTION_TAG;
        }
    }

    /** Drops the packets ({@code struct ibv_flow_spec_action_drop}). */
    record Drop() implements FlowSpecification {
        @Override
        public FlowSpecificationType type() {
            return FlowSpecificationType.ACTION_DROP;
        }
    }

    /**
     * Applies a flow action to the packets ({@code struct ibv_flow_spec_action_handle}).
     *
     * @param action a flow action of the same context as the queue pair; it cannot be closed while the flow is open
     */
    record Handle(FlowAction action) implements FlowSpecification {
        /** Checks for null. */
        public Handle {
            Objects.requireNonNull(action, "action");
        }

        @Override
        public FlowSpecificationType type() {
            return FlowSpecificationType.ACTION_HANDLE;
        }
    }

    /**
     * Counts the packets ({@code struct ibv_flow_spec_counter_action}).
     *
     * @param counters counters of the same context as the queue pair, for which
     *        {@link Counters#attachPointFlow(CounterDescription, int)} has defined what to count; they cannot be closed
     *        while the flow is open
     */
    record Count(Counters counters) implements FlowSpecification {
        /** Checks for null. */
        public Count {
            Objects.requireNonNull(counters, "counters");
        }

        @Override
        public FlowSpecificationType type() {
            return FlowSpecificationType.ACTION_COUNT;
        }
    }
}
