// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.Locale;

import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;

/** The operations of a connected queue pair, as single requests and in batches. */
enum Operation {
    SEND {
        @Override
        SendRequest begin(SendRequest request, Target to) {
            return request.send();
        }

        @Override
        SendBatch begin(SendBatch batch, Target to) {
            return batch.send();
        }
    },
    SEND_IMM {
        @Override
        SendRequest begin(SendRequest request, Target to) {
            return request.sendWithImmediate(to.immediate);
        }

        @Override
        SendBatch begin(SendBatch batch, Target to) {
            return batch.sendWithImmediate(to.immediate);
        }
    },
    WRITE {
        @Override
        SendRequest begin(SendRequest request, Target to) {
            return request.rdmaWrite(to.address, to.key);
        }

        @Override
        SendBatch begin(SendBatch batch, Target to) {
            return batch.rdmaWrite(to.address, to.key);
        }
    },
    WRITE_IMM {
        @Override
        SendRequest begin(SendRequest request, Target to) {
            return request.rdmaWriteWithImmediate(to.address, to.key, to.immediate);
        }

        @Override
        SendBatch begin(SendBatch batch, Target to) {
            return batch.rdmaWriteWithImmediate(to.address, to.key, to.immediate);
        }
    },
    READ {
        @Override
        SendRequest begin(SendRequest request, Target to) {
            return request.rdmaRead(to.address, to.key);
        }

        @Override
        SendBatch begin(SendBatch batch, Target to) {
            return batch.rdmaRead(to.address, to.key);
        }
    },
    COMPARE_AND_SWAP {
        @Override
        SendRequest begin(SendRequest request, Target to) {
            return request.compareAndSwap(to.address, to.key, to.operand, to.swap);
        }

        @Override
        SendBatch begin(SendBatch batch, Target to) {
            return batch.compareAndSwap(to.address, to.key, to.operand, to.swap);
        }
    },
    FETCH_AND_ADD {
        @Override
        SendRequest begin(SendRequest request, Target to) {
            return request.fetchAndAdd(to.address, to.key, to.operand);
        }

        @Override
        SendBatch begin(SendBatch batch, Target to) {
            return batch.fetchAndAdd(to.address, to.key, to.operand);
        }
    };

    /** What is aimed at; each operation takes of it what it needs. */
    record Target(long address, int key, int immediate, long operand, long swap) {
        /** For reads, and writes without and with immediate. */
        static Target of(long address, int key, int immediate) {
            return new Target(address, key, immediate, 0, 0);
        }

        /** For sends. */
        static Target of(int immediate) {
            return of(0, 0, immediate);
        }
    }

    abstract SendRequest begin(SendRequest request, Target to);

    abstract SendBatch begin(SendBatch batch, Target to);

    /** Whether it takes one of the peer's receives. */
    boolean takesReceive() {
        return this == SEND || this == SEND_IMM || this == WRITE_IMM;
    }

    /** Posts it, the way that the side posts. */
    void post(Side from, long number, Target to, long offset, int length) throws RdmaException {
        if (from.postsBatches()) {
            try (SendBatch batch = from.pair().startBatch()) {
                begin(batch, to).id(number).data(from.region(), offset, length);
                batch.complete();
            }
        } else {
            from.pair().postSend(begin(from.send(), to).id(number).data(from.region(), offset, length));
        }
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
