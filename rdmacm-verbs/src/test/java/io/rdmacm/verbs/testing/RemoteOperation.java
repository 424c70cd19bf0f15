// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;

import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionOpcode;

/** Operations on the memory of a peer, in both ways to post them: what each does, and what it leaves behind. */
public enum RemoteOperation {
    WRITE(SendOperation.RDMA_WRITE, WorkCompletionOpcode.RDMA_WRITE) {
        @Override
        public void make(SendRequest request, long address, int key, int number) {
            request.rdmaWrite(address, key);
        }

        @Override
        public void make(SendBatch batch, long address, int key, int number) {
            batch.rdmaWrite(address, key);
        }

        @Override
        public void check(TrafficEnd one, TrafficEnd other, int number) {
            assertThat(other.bytes(0, LENGTH)).containsOnly(number);
        }
    },
    WRITE_WITH_IMMEDIATE(SendOperation.RDMA_WRITE_WITH_IMM, WorkCompletionOpcode.RDMA_WRITE) {
        @Override
        public void make(SendRequest request, long address, int key, int number) {
            request.rdmaWriteWithImmediate(address, key, ~number);
        }

        @Override
        public void make(SendBatch batch, long address, int key, int number) {
            batch.rdmaWriteWithImmediate(address, key, ~number);
        }

        @Override
        public void prepare(TrafficEnd other) throws RdmaException {
            other.post(other.receive.id(9).noData());
        }

        @Override
        public void check(TrafficEnd one, TrafficEnd other, int number) throws Exception {
            WorkCompletion told = other.success();
            assertThat(told.opcode()).isEqualTo(WorkCompletionOpcode.RECV_RDMA_WITH_IMM);
            assertThat(told.immediate()).isEqualTo(~number);
            assertThat(told.byteLength()).isEqualTo(LENGTH);
            assertThat(other.bytes(0, LENGTH)).containsOnly(number);
        }
    },
    READ(SendOperation.RDMA_READ, WorkCompletionOpcode.RDMA_READ) {
        @Override
        public void make(SendRequest request, long address, int key, int number) {
            request.rdmaRead(address, key);
        }

        @Override
        public void make(SendBatch batch, long address, int key, int number) {
            batch.rdmaRead(address, key);
        }

        @Override
        public void check(TrafficEnd one, TrafficEnd other, int number) {
            assertThat(one.bytes(0, LENGTH)).containsOnly(~number);
        }
    },
    COMPARE_AND_SWAP(SendOperation.ATOMIC_CMP_AND_SWP, WorkCompletionOpcode.COMP_SWAP) {
        @Override
        public void make(SendRequest request, long address, int key, int number) {
            request.compareAndSwap(address, key, filled(~number), number);
        }

        @Override
        public void make(SendBatch batch, long address, int key, int number) {
            batch.compareAndSwap(address, key, filled(~number), number);
        }

        @Override
        public void check(TrafficEnd one, TrafficEnd other, int number) {
            checkAtomic(one, other, filled(~number), number);
        }
    },
    FETCH_AND_ADD(SendOperation.ATOMIC_FETCH_AND_ADD, WorkCompletionOpcode.FETCH_ADD) {
        @Override
        public void make(SendRequest request, long address, int key, int number) {
            request.fetchAndAdd(address, key, number);
        }

        @Override
        public void make(SendBatch batch, long address, int key, int number) {
            batch.fetchAndAdd(address, key, number);
        }

        @Override
        public void check(TrafficEnd one, TrafficEnd other, int number) {
            checkAtomic(one, other, filled(~number), filled(~number) + number);
        }
    };

    private static final int LENGTH = 1000;

    private final SendOperation operation;
    private final WorkCompletionOpcode opcode;

    RemoteOperation(SendOperation operation, WorkCompletionOpcode opcode) {
        this.operation = operation;
        this.opcode = opcode;
    }

    public abstract void make(SendRequest request, long address, int key, int number);

    public abstract void make(SendBatch batch, long address, int key, int number);

    public void prepare(TrafficEnd other) throws RdmaException {
        // most need nothing of the peer
    }

    public abstract void check(TrafficEnd one, TrafficEnd other, int number) throws Exception;

    /** What a queue pair that posts in batches must be made with. */
    public SendOperation operation() {
        return operation;
    }

    /** Whether unreliable connections have it, and the peer is told when it has arrived. */
    public boolean isSeenWhenUnreliable() {
        return this == WRITE_WITH_IMMEDIATE;
    }

    /** Once, from one end to the other; each end's memory holds the number, or its complement, before. */
    public void run(TrafficEnd one, TrafficEnd other, int number) throws Exception {
        one.fill(0, LENGTH, number);
        other.fill(0, LENGTH, ~number);
        prepare(other);
        int length = this == COMPARE_AND_SWAP || this == FETCH_AND_ADD ? Long.BYTES : LENGTH;
        if (one.isBatching()) {
            try (SendBatch batch = one.pair.startBatch()) {
                make(batch.id(number), other.address(0), other.region.remoteKey(), number);
                batch.data(one.region, 0, length);
                batch.complete();
            }
        } else {
            make(one.send, other.address(0), other.region.remoteKey(), number);
            one.pair.postSend(one.send.id(number).data(one.region, 0, length));
        }
        WorkCompletion done = one.success();
        assertThat(done.workRequestId()).isEqualTo(number);
        assertThat(done.opcode()).isEqualTo(opcode);
        check(one, other, number);
    }

    /** 8 bytes of a value. */
    private static long filled(int value) {
        return (value & 0xff) * 0x0101010101010101L;
    }

    private static void checkAtomic(TrafficEnd one, TrafficEnd other, long before, long after) {
        assertThat(one.region.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(before);
        assertThat(other.region.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(after);
    }
}
