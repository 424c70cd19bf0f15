// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;

import io.rdmacm.bench.device.measure.PeerTask;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.error.RdmaException;

/** The server of a stream: a handler counts the messages, in the thread of a loop. */
final class HandledStream extends ConnectionTask {
    private final Count count;

    private HandledStream(Trial trial, int warmUp, Count count) throws IOException {
        super(trial, false, warmUp, count, true);
        this.count = count;
    }

    static HandledStream open(Trial trial, int warmUp) throws IOException {
        return new HandledStream(trial, warmUp, new Count(warmUp + trial.iterations()));
    }

    @Override
    public String run() throws IOException, InterruptedException {
        count.end.await();
        return PeerTask.DONE;
    }

    /** Counts messages. */
    private static final class Count implements ConnectionHandler {
        private final Finish end = new Finish();
        private int missing;

        Count(int missing) {
            this.missing = missing;
        }

        @Override
        public void onMessage(Connection connection, Message message) {
            missing--;
            if (missing == 0) {
                end.reached();
            }
        }

        @Override
        public void onDisconnect(Connection connection, RdmaException reason) {
            end.failed(reason);
        }
    }
}
