// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;

import io.rdmacm.bench.device.measure.PeerTask;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.AccessFlag;

/** The server of reads: tells the client what to read, and does nothing while it is read. */
final class ReadTarget extends ConnectionTask {
    private MemoryRegion region;

    ReadTarget(Trial trial, int warmUp) throws IOException {
        super(trial, false, warmUp, null, false);
    }

    @Override
    void connected() throws IOException, InterruptedException {
        region = connection().protectionDomain().allocate(trial().size(), AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_READ);
        connection().send(region.remoteMemory().encode(), LIMIT);
    }

    @Override
    public String run() {
        return PeerTask.DONE;
    }

    @Override
    void release() throws IOException {
        if (region != null) {
            region.close();
        }
    }
}
