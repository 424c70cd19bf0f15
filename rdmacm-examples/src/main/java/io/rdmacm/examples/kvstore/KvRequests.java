// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;

/** Answers requests, over RDMA or TCP, from the table. Thread-safe. */
final class KvRequests {
    private final KvTable table;
    private final LongAdder handled = new LongAdder();

    KvRequests(KvTable table) {
        this.table = table;
    }

    KvTable table() {
        return table;
    }

    /** Returns the maximum length of a request or an answer in bytes. */
    int messageBytes() {
        return table.layout().keyBytes() + table.layout().valueBytes() + KvMessage.OVERHEAD;
    }

    /**
     * Answers a request.
     *
     * @param kind the kind, which has been read from the request
     * @param request the rest of the request
     * @param answer the buffer for the answer
     * @param copy a buffer of the caller for a slot
     */
    void answer(KvMessage.Request kind, ByteBuffer request, ByteBuffer answer, KvSlot copy) throws IOException {
        switch (kind) {
            case PUT -> put(KvMessage.readBytes(request), KvMessage.readBytes(request), answer);
            case GET -> get(KvMessage.readBytes(request), answer, copy);
            case COUNT -> {
                KvMessage.begin(answer, KvMessage.Answer.OK);
                answer.putLong(handled.sum());
            }
            default -> KvMessage.begin(answer, KvMessage.Answer.WRONG);
        }
    }

    private void put(byte[] key, byte[] value, ByteBuffer answer) {
        handled.increment();
        KvLayout layout = table.layout();
        if (key.length == 0 || key.length > layout.keyBytes() || value.length > layout.valueBytes()) {
            KvMessage.begin(answer, KvMessage.Answer.WRONG);
            return;
        }
        long version = table.put(key, value);
        KvMessage.begin(answer, version == KvTable.FULL ? KvMessage.Answer.FULL : KvMessage.Answer.OK);
        answer.putLong(version);
    }

    private void get(byte[] key, ByteBuffer answer, KvSlot copy) {
        handled.increment();
        byte[] value = table.get(key, copy);
        KvMessage.begin(answer, value == null ? KvMessage.Answer.NOT_FOUND : KvMessage.Answer.OK);
        KvMessage.writeBytes(answer, value == null ? new byte[0] : value);
    }
}
