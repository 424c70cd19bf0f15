// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.work.WorkCompletionException;

/** A client in a process of its own, which is killed while it sends. */
final class KilledPeer implements Act {
    private static final int MOST = 200;

    @Override
    public void play(Stage stage, RandomGenerator random) throws Exception {
        int count = random.nextInt(MOST);
        MessageStand stand = MessageStand.of(stage);
        // Nobody else's: the process may connect at any time.
        try (Listener listener = stand.servers().listen(stage.anyPort())) {
            Process process = start(listener.address(), stage.patience());
            // A JVM takes longer to start than anything else here takes.
            try (Connection connection = listener.accept(stage.patience().multipliedBy(2))) {
                stage.tally().connected();
                for (int i = 0; i < count; i++) {
                    Messages.receive(stage, connection, i);
                }
                process.destroyForcibly();
                // What it has sent before is received, and right.
                int[] next = {count};
                Stage.failingAny(() -> {
                    while (true) {
                        try (Message message = connection.receive(stage.patience())) {
                            Payload.check(message.memory(), next[0]++);
                        }
                    }
                }, DisconnectedException.class, WorkCompletionException.class);
            } finally {
                process.destroyForcibly();
                process.waitFor(stage.patience().toMillis(), TimeUnit.MILLISECONDS);
            }
        }
        stage.tally().survived("killed-peer");
    }

    private static Process start(InetSocketAddress address, Duration patience) throws Exception {
        List<String> command = new ArrayList<>(ForkedJvm.command());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx64m", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), KilledPeer.class.getName(),
                address.getAddress().getHostAddress(), Integer.toString(address.getPort()), patience.toString()));
        // why it does not come, when it does not
        return new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** Sends payloads to a server until it is killed. The arguments: the address, the port, and the patience. */
    public static void main(String[] args) throws Exception {
        InetSocketAddress server = new InetSocketAddress(InetAddress.getByName(args[0]), Integer.parseInt(args[1]));
        Duration patience = Duration.parse(args[2]);
        try (Stage stage = new Stage(server.getAddress(), new Tally(), patience);
                ConnectionManager manager = ConnectionManager.open();
                Connection connection = manager.connect(server, patience)) {
            for (int i = 0; true; i++) {
                Messages.send(stage, connection, i, MessageStand.SIZE / 2);
            }
        }
    }
}
