// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** What rstream does with a connection. */
final class StreamExchange {
    // what each side sends before a test begins
    private static final int SYNC = 16;

    private final StreamProgram program;
    private final ByteBuffer buffer;
    // null if the data do not matter
    private final CountingData data;

    StreamExchange(StreamProgram program) {
        this.program = program;
        this.buffer = ByteBuffer.allocateDirect(Math.max(program.longest(), SYNC));
        this.data = program.wants(TestOption.VERIFY) ? new CountingData() : null;
    }

    /** Runs tests, and prints their results. */
    void run(StreamEnd end, List<StreamTest> tests) throws IOException, InterruptedException {
        boolean client = !program.isServer();
        for (StreamTest test : tests) {
            transfer(end, client, SYNC, 1);
            transfer(end, !client, SYNC, 1);
            long start = System.nanoTime();
            for (int i = 0; i < test.iterations(); i++) {
                transfer(end, client, test.size(), test.count());
                transfer(end, !client, test.size(), test.count());
            }
            program.print(test.report(System.nanoTime() - start));
        }
        if (!client) {
            end.awaitPeer();
        }
    }

    private void transfer(StreamEnd end, boolean send, int size, int count) throws IOException, InterruptedException {
        for (int i = 0; i < count; i++) {
            buffer.clear().limit(size);
            if (send) {
                if (data != null) {
                    data.fill(buffer);
                }
                end.send(buffer);
            } else {
                end.receive(buffer);
                if (data != null) {
                    data.verify(buffer.flip());
                }
            }
        }
    }
}
