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

/** A memory window that is bound, written through, and then revoked by either side. */
final class Windows implements Scenario {
    private static final long BIND = 1;
    private static final long WRITE = 2;
    private static final long REVOKE = 3;

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        MemoryWindowType type = random.nextBoolean() ? MemoryWindowType.TYPE_1 : MemoryWindowType.TYPE_2;
        int length = Payload.HEADER + random.nextInt(Side.HALF - Payload.HEADER);
        try (Pair pair = Pair.connect(worker, random);
                MemoryWindow window = pair.server().domain().allocateMemoryWindow(type)) {
            Side server = pair.server();
            Side client = pair.client();
            MemoryWindowBinding binding = MemoryWindowBinding.of(server.region(), Side.HALF, length,
                    AccessFlag.REMOTE_WRITE);
            bind(server, window, binding);
            server.success(BIND);
            worker.counters().countOperation("bind", 0);
            write(client, window, binding, length);
            client.success(WRITE);
            Payload.check(server.region().memory().asSlice(Side.HALF, length), WRITE);
            worker.counters().countOperation("write", length);
            revoke(worker, pair, window, random.nextBoolean());
            write(client, window, binding, length);
            WorkCompletion refused = client.completion();
            LossException.unless(refused.status() == WorkCompletionStatus.REM_ACCESS_ERR,
                    "a write through a revoked window: %s", refused);
            worker.counters().countFault("window-revoked");
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
                batch.id(BIND).bindMemoryWindow(window, key, binding);
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

    /** Revokes type 1 by another binding, and type 2 by an invalidation: the server's own, or with a message. */
    private static void revoke(Worker worker, Pair pair, MemoryWindow window, boolean byPeer) throws Exception {
        Side server = pair.server();
        if (window.type() == MemoryWindowType.TYPE_1) {
            window.unbind(server.pair(), REVOKE);
            server.success(REVOKE);
            worker.counters().countOperation("unbind", 0);
        } else if (byPeer) {
            Side client = pair.client();
            server.postReceive(REVOKE, Payload.HEADER);
            client.pair().postSend(client.send().id(REVOKE).sendWithInvalidate(window.remoteKey())
                    .data(client.region(), 0, Payload.HEADER));
            client.success(REVOKE);
            server.success(REVOKE);
            worker.counters().countOperation("send-invalidate", Payload.HEADER);
        } else {
            server.pair().postSend(server.send().id(REVOKE).localInvalidate(window.remoteKey()));
            server.success(REVOKE);
            worker.counters().countOperation("local-invalidate", 0);
        }
    }
}
