// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.device.measure.PeerTask;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.AccessFlag;

/** A stream of messages with {@link Connection#send}, which copies, and {@link Connection#receive}. */
final class CopyingStream extends ConnectionTask {
    private MemoryRegion region;

    CopyingStream(Trial trial, boolean client, int warmUp) throws IOException {
        super(trial, client, warmUp, null, false);
    }

    @Override
    void connected() throws IOException {
        region = connection().protectionDomain().allocate(trial().size(), AccessFlag.LOCAL_WRITE);
    }

    @Override
    public String run() throws IOException, InterruptedException {
        if (!isClient()) {
            for (int i = 0; i < total(); i++) {
                connection().receive(LIMIT).close();
            }
            return PeerTask.DONE;
        }
        MemorySegment data = Arena.ofAuto().allocate(trial().size());
        if (warmUp() > 0) {
            send(data, warmUp());
        }
        allocation().start();
        long start = System.nanoTime();
        send(data, trial().iterations());
        long nanos = System.nanoTime() - start;
        allocation().end(trial().iterations());
        return Outcome.Throughput.of(trial().iterations(), nanos).encode();
    }

    /** Sends messages, and waits until the last one has arrived. */
    private void send(MemorySegment data, int count) throws IOException, InterruptedException {
        for (int i = 1; i < count; i++) {
            connection().send(data, LIMIT);
        }
        // this one is waited for, because it is not copied
        connection().send(region, 0, trial().size(), LIMIT);
    }

    @Override
    void release() throws IOException {
        if (region != null) {
            region.close();
        }
    }
}
