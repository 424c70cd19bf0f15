// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.util.Objects;

import io.rdmacm.verbs.CompletionCursor;

/**
 * A part of a flow rule ({@code struct ibv_flow_spec}, ibv_create_flow(3)): what packets must look like
 * ({@link FlowMatch}), or what else is done with them.
 */
public sealed interface FlowSpecification permits FlowMatch, FlowSpecification.Tag, FlowSpecification.Drop,
        FlowSpecification.Handle, FlowSpecification.Count {
    /** What it is about. */
    FlowSpecificationType type();

    /**
     * Marks the completions of the packets ({@code struct ibv_flow_spec_action_tag}), for
     * {@link CompletionCursor#flowTag()}.
     *
     * @param id the mark; drivers take 24 bits of it or less
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
     * Does with the packets what a flow action says ({@code struct ibv_flow_spec_action_handle}).
     *
     * @param action of the context of the queue pair; it cannot close while the flow is open
     */
    record Handle(FlowAction action) implements FlowSpecification {
        /** Refuses null. */
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
     * @param counters of the context of the queue pair, told before what to count
     *        ({@link Counters#attachPointFlow(CounterDescription, int)}); they cannot close while the flow is open
     */
    record Count(Counters counters) implements FlowSpecification {
        /** Refuses null. */
        public Count {
            Objects.requireNonNull(counters, "counters");
        }

        @Override
        public FlowSpecificationType type() {
            return FlowSpecificationType.ACTION_COUNT;
        }
    }
}
