// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.Locale;
import java.util.function.BiFunction;

import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.error.RdmaException;

/** The operations of a connected queue pair, as single requests and in batches. */
enum Operation {
    SEND((request, _) -> request.send(), (batch, _) -> batch.send()),
    SEND_IMM((request, to) -> request.sendWithImmediate(to.immediate),
            (batch, to) -> batch.sendWithImmediate(to.immediate)),
    WRITE((request, to) -> request.rdmaWrite(to.address, to.key), (batch, to) -> batch.rdmaWrite(to.address, to.key)),
    WRITE_IMM((request, to) -> request.rdmaWriteWithImmediate(to.address, to.key, to.immediate),
            (batch, to) -> batch.rdmaWriteWithImmediate(to.address, to.key, to.immediate)),
    READ((request, to) -> request.rdmaRead(to.address, to.key), (batch, to) -> batch.rdmaRead(to.address, to.key)),
    COMPARE_AND_SWAP((request, to) -> request.compareAndSwap(to.address, to.key, to.operand, to.swap),
            (batch, to) -> batch.compareAndSwap(to.address, to.key, to.operand, to.swap)),
    FETCH_AND_ADD((request, to) -> request.fetchAndAdd(to.address, to.key, to.operand),
            (batch, to) -> batch.fetchAndAdd(to.address, to.key, to.operand));

    private final BiFunction<SendRequest, Target, SendRequest> single;
    private final BiFunction<SendBatch, Target, SendBatch> inBatch;

    Operation(BiFunction<SendRequest, Target, SendRequest> single, BiFunction<SendBatch, Target, SendBatch> inBatch) {
        this.single = single;
        this.inBatch = inBatch;
    }

    /** The target of an operation; each operation uses the fields it needs. */
    record Target(long address, int key, int immediate, long operand, long swap) {
        /** For reads, and for writes with or without immediate data. */
        static Target of(long address, int key, int immediate) {
            return new Target(address, key, immediate, 0, 0);
        }

        /** For sends. */
        static Target of(int immediate) {
            return of(0, 0, immediate);
        }
    }

    /** Returns whether the operation consumes a receive request of the peer. */
    boolean consumesReceive() {
        return this == SEND || this == SEND_IMM || this == WRITE_IMM;
    }

    /** Posts the operation, as a single request or in a batch, whichever the side uses. */
    void post(Side from, long number, Target to, long offset, int length) throws RdmaException {
        if (from.postsBatches()) {
            try (SendBatch batch = from.pair().startBatch()) {
                inBatch.apply(batch.id(number), to).data(from.region(), offset, length);
                batch.complete();
            }
        } else {
            from.pair().postSend(single.apply(from.send(), to).id(number).data(from.region(), offset, length));
        }
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
