// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Contest;
import io.rdmacm.verbs.testing.WithFakeEfa;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Posting and polling of SRD while everything is closed, over the real libefa: what is refused is refused with the
 * exceptions of the library, and nothing is left, here or in the kernel.
 */
@WithFakeEfa
class EfaRacesTest {
    private static final int ROUNDS = 15;
    private static final int MOST = 4;
    // a queue is full
    private static final Set<Integer> ERRORS = Set.of(Rdma.ENOMEM());

    /** A queue pair that talks to itself. */
    private static final class Stage implements AutoCloseable {
        private final EfaEnd end = EfaEnd.srd(EfaEnd.READS);
        private final AddressHandle address = end.address();
        private final int number = end.pair.number();

        Stage() throws RdmaException {
        }

        List<AutoCloseable> objects() {
            return List.of(end.pair, end.queue, end.memory, end.channel, end.domain, end.context, address);
        }

        List<Contest.Act> acts() {
            SendRequest request = SendRequests.allocate(1, 1).get(0).send().data(end.memory, 0, 8)
                    .datagram(address, number, EfaEnd.KEY);
            ReceiveRequest receive = ReceiveRequests.allocate(1, 1).get(0).data(end.memory, 0, 64);
            WorkCompletions completions = WorkCompletions.allocate(MOST);
            return List.of(this::sendAndRead, () -> end.pair.postSend(request), () -> end.pair.postReceive(receive),
                    () -> end.pair.query(), () -> EfaAddressHandle.number(address),
                    () -> end.queue.poll(completions));
        }

        private void sendAndRead() throws RdmaException {
            send();
            read();
        }

        private void send() throws RdmaException {
            try (SendBatch batch = end.pair.startBatch()) {
                batch.id(1).send(end.memory, 0, 16).datagram(address, number, EfaEnd.KEY);
                batch.id(2).rdmaRead(end.memory.remoteAddress() + 128, end.memory.remoteKey(), end.memory, 256, 64)
                        .datagram(address, number, EfaEnd.KEY);
                batch.complete();
            }
        }

        private void read() throws RdmaException {
            try (CompletionCursor completion = end.queue.startPoll()) {
                while (completion.next()) {
                    completion.workRequestId();
                    completion.status();
                    if (completion.succeeded() && completion.opcode() == WorkCompletionOpcode.RECV) {
                        end.queue.sourceGid();
                    }
                }
            }
        }

        @Override
        public void close() throws RdmaException {
            address.close();
            end.close();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void everythingIsClosedWhileItIsUsed(long seed) throws Exception {
        Random random = new Random(seed);
        long uses = 0;
        for (int i = 0; i < ROUNDS; i++) {
            try (Stage stage = new Stage()) {
                uses += Contest.run(random, ERRORS, stage.objects(), stage.acts());
            }
        }
        assertThat(uses).isGreaterThan(ROUNDS);
    }
}
