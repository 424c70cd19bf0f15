// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.work.WorkCompletionException;

/** A client in a process of its own, which is killed while it sends. */
final class KilledPeer implements Scenario {
    private static final int MAX = 200;

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        int count = random.nextInt(MAX);
        MessageFixture fixture = MessageFixture.of(worker);
        // A listener of its own, because the process may connect at any time.
        try (Listener listener = fixture.servers().listen(worker.anyPort())) {
            Process process = PeerProcess.start(KilledPeer.class, List.of(), List.of(),
                    listener.address().getAddress().getHostAddress(),
                    Integer.toString(listener.address().getPort()), worker.timeout().toString());
            // Starting a JVM takes longer than anything else here.
            try (Connection connection = listener.accept(worker.timeout().multipliedBy(2))) {
                worker.counters().countConnection();
                for (int i = 0; i < count; i++) {
                    Messages.receive(worker, connection, i);
                }
                process.destroyForcibly();
                // What it sent before must still arrive intact.
                int[] next = {count};
                Expect.failureOf(() -> {
                    while (true) {
                        try (Message message = connection.receive(worker.timeout())) {
                            Payload.check(message.memory(), next[0]++);
                        }
                    }
                }, DisconnectedException.class, WorkCompletionException.class);
            } finally {
                process.destroyForcibly();
                process.waitFor(worker.timeout().toMillis(), TimeUnit.MILLISECONDS);
            }
        }
        LossException.unless(fixture.servers().buffersInUse() == 0, "%d buffers of closed connections are in use",
                fixture.servers().buffersInUse());
        worker.counters().countFault("killed-peer");
    }

    /** Sends payloads to a server until it is killed. The arguments: the address, the port, and the timeout. */
    public static void main(String[] args) throws Exception {
        InetSocketAddress server = new InetSocketAddress(InetAddress.getByName(args[0]), Integer.parseInt(args[1]));
        Duration timeout = Duration.parse(args[2]);
        try (Worker worker = new Worker(server.getAddress(), new Counters(), timeout);
                ConnectionManager manager = ConnectionManager.open();
                Connection connection = manager.connect(server, timeout)) {
            for (int i = 0; true; i++) {
                Messages.send(worker, connection, i, MessageFixture.SIZE / 2);
            }
        }
    }
}
