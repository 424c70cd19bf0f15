// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.random.RandomGenerator;

import io.rdmacm.verbs.MemoryWindow;
import io.rdmacm.verbs.MemoryWindowBinding;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** A memory window: bound, written through, taken away by either side, and then shut. */
final class Windows implements Act {
    private static final long BIND = 1;
    private static final long WRITE = 2;
    private static final long SHUT = 3;

    @Override
    public void play(Stage stage, RandomGenerator random) throws Exception {
        MemoryWindowType type = random.nextBoolean() ? MemoryWindowType.TYPE_1 : MemoryWindowType.TYPE_2;
        int length = Payload.HEADER + random.nextInt(Side.HALF - Payload.HEADER);
        try (Pair pair = Pair.connect(stage, random);
                MemoryWindow window = pair.server().domain().allocateMemoryWindow(type)) {
            Side server = pair.server();
            Side client = pair.client();
            MemoryWindowBinding binding = MemoryWindowBinding.of(server.region(), Side.HALF, length,
                    AccessFlag.REMOTE_WRITE);
            bind(server, window, binding);
            server.success(BIND);
            stage.tally().did("bind", 0);
            write(client, window, binding, length);
            client.success(WRITE);
            Payload.check(server.region().memory().asSlice(Side.HALF, length), WRITE);
            stage.tally().did("write", length);
            shut(stage, pair, window, random.nextBoolean());
            write(client, window, binding, length);
            WorkCompletion refused = client.completion();
            LossException.unless(refused.status() == WorkCompletionStatus.REM_ACCESS_ERR,
                    "a write through a window that is shut: %s", refused);
            stage.tally().survived("window-shut");
        }
    }

    private static void bind(Side server, MemoryWindow window, MemoryWindowBinding binding) throws Exception {
        if (window.type() == MemoryWindowType.TYPE_1) {
            window.bind(server.pair(), BIND, binding);
            return;
        }
        int key = MemoryWindow.incrementKey(window.remoteKey());
        if (server.postsBatches()) {
            try (SendBatch batch = server.pair().startBatch()) {
                batch.bindMemoryWindow(window, key, binding).id(BIND);
                batch.complete();
            }
        } else {
            server.pair().postSend(server.send().id(BIND).bindMemoryWindow(window, key, binding));
        }
    }

    private static void write(Side client, MemoryWindow window, MemoryWindowBinding binding, int length)
            throws Exception {
        Payload.write(client.region().memory().asSlice(0, length), WRITE);
        Operation.WRITE.post(client, WRITE, Operation.Target.of(binding.remoteAddress(), window.remoteKey(), 0), 0,
                length);
    }

    /** Type 1 by another binding; type 2 by an invalidation, the server's own or the one of a message. */
    private static void shut(Stage stage, Pair pair, MemoryWindow window, boolean byPeer) throws Exception {
        Side server = pair.server();
        if (window.type() == MemoryWindowType.TYPE_1) {
            window.unbind(server.pair(), SHUT);
            server.success(SHUT);
            stage.tally().did("unbind", 0);
        } else if (byPeer) {
            Side client = pair.client();
            server.postReceive(SHUT, Payload.HEADER);
            client.pair().postSend(client.send().id(SHUT).sendWithInvalidate(window.remoteKey())
                    .data(client.region(), 0, Payload.HEADER));
            client.success(SHUT);
            server.success(SHUT);
            stage.tally().did("send-invalidate", Payload.HEADER);
        } else {
            server.pair().postSend(server.send().id(SHUT).localInvalidate(window.remoteKey()));
            server.success(SHUT);
            stage.tally().did("local-invalidate", 0);
        }
    }
}
