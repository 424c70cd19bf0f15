// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.verbs.error.RdmaException;

/** A client in a process of its own that connects until its memory is used up, ends some connections and goes on. */
enum LimitedPeer implements Scenario {
    /** The JVM's limit of memory outside its heap. */
    MEMORY_LIMIT(List.of(), List.of("-XX:MaxDirectMemorySize=16m")),
    /** The limit of locked memory (ulimit -l), which does not hold for root. */
    LOCKED_MEMORY_LIMIT(ordinary("prlimit", "--memlock=16777216"), List.of());

    private static final int ROUNDS = 3;
    private static final int LARGE = 1 << 16;

    private final List<String> wrapper;
    private final List<String> options;

    LimitedPeer(List<String> wrapper, List<String> options) {
        this.wrapper = wrapper;
        this.options = options;
    }

    /** Lets a program start another one without the privileges of root, but that of reading its class path. */
    private static List<String> ordinary(String... program) {
        List<String> command = new ArrayList<>(List.of(program));
        if ("root".equals(System.getProperty("user.name"))) {
            command.addAll(List.of("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps",
                    "-all,+dac_read_search", "--ambient-caps", "-all,+dac_read_search", "--"));
        }
        return command;
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        InetSocketAddress server = HandledMessages.fixture(worker).listener().address();
        Process process = PeerProcess.start(LimitedPeer.class, wrapper, options,
                server.getAddress().getHostAddress(), Integer.toString(server.getPort()),
                worker.timeout().toString());
        try {
            LossException.unless(process.waitFor(2 * worker.timeout().toMillis(), TimeUnit.MILLISECONDS),
                    "a peer that is short of memory does not end");
            LossException.unless(process.exitValue() == 0, "a peer that is short of memory has failed");
        } finally {
            process.destroyForcibly().waitFor();
        }
        worker.counters().countFault(toString());
    }

    /** Connects as described. The arguments: the address, the port, and the timeout. */
    public static void main(String[] args) throws Exception {
        InetSocketAddress server = new InetSocketAddress(InetAddress.ofLiteral(args[0]), Integer.parseInt(args[1]));
        Duration timeout = Duration.parse(args[2]);
        ConnectionSettings large = ConnectionSettings.builder().messageSize(LARGE).build();
        Deque<Connection> connections = new ArrayDeque<>();
        try (Worker worker = new Worker(server.getAddress(), new Counters(), timeout);
                ConnectionManager manager = ConnectionManager.open()) {
            for (int round = 0; round < ROUNDS; round++) {
                connectAll(manager, server, large, timeout, connections);
                for (int left = connections.size() / 2; left > 0; left--) {
                    connections.remove().close();
                }
                for (Connection connection : connections) {
                    Messages.send(worker, connection, round, Payload.HEADER);
                    Messages.receive(worker, connection, round);
                }
            }
        }
    }

    private static void connectAll(ConnectionManager manager, InetSocketAddress server, ConnectionSettings settings,
            Duration timeout, Deque<Connection> connections) throws InterruptedException, LossException {
        try {
            while (true) {
                connections.add(manager.connect(server, settings, timeout));
            }
        } catch (RdmaException e) {
            // There is no more memory.
            LossException.unless(!connections.isEmpty() && e.errnoName().equals("ENOMEM"), "another limit: %s", e);
        }
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
