// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;

import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionOpcode;

/** Messages between two connected queue pairs. */
public final class MessageTraffic {
    /** The send operations that {@link #message} needs of a queue pair that posts in batches. */
    public static final Set<SendOperation> OPERATIONS = Set.of(SendOperation.SEND, SendOperation.SEND_WITH_IMM);
    private static final int ITERATIONS = 100;

    private MessageTraffic() {
    }

    /** What two connected ends do with each other. */
    @FunctionalInterface
    public interface Exchange {
        /** Runs the exchange. */
        void between(TrafficEnd one, TrafficEnd other) throws Exception;
    }

    /** Connects two ends, runs an exchange between them, and closes both. */
    public static void connected(TrafficEnd.Builder builder, Exchange exchange) throws Exception {
        TrafficEnd[] ends = TrafficEnd.connected(builder);
        try (TrafficEnd one = ends[0]; TrafficEnd other = ends[1]) {
            exchange.between(one, other);
        }
    }

    /** Sends one message and checks both completions and what arrives. */
    public static void message(TrafficEnd from, TrafficEnd to, int number, int length, boolean withImmediate)
            throws Exception {
        to.postReceive(number, length);
        from.fill(0, Math.max(length, 1), number);
        from.postSend(1000 + number, length, withImmediate, ~number);
        WorkCompletion sent = from.success();
        assertThat(sent.workRequestId()).isEqualTo(1000 + number);
        assertThat(sent.opcode()).isEqualTo(WorkCompletionOpcode.SEND);
        WorkCompletion received = to.success();
        int header = to.isDatagram() ? TrafficEnd.HEADER : 0;
        assertThat(received.workRequestId()).isEqualTo(number);
        assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECV);
        assertThat(received.byteLength()).isEqualTo(header + length);
        assertThat(received.queuePairNumber()).isEqualTo(to.pair.number());
        assertThat(received.hasImmediate()).isEqualTo(withImmediate);
        if (withImmediate) {
            assertThat(received.immediate()).isEqualTo(~number);
        }
        if (length > 0) {
            assertThat(to.bytes(header, length)).containsOnly(number);
        }
    }

    /** Sends messages in both directions, in turn. */
    public static void pingPong(TrafficEnd one, TrafficEnd other, int length, boolean withImmediate) throws Exception {
        for (int i = 0; i < ITERATIONS; i++) {
            message(one, other, i, length, withImmediate);
            message(other, one, i, length, withImmediate);
        }
    }
}
