// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.BufferedReader;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;

/** Ends of one side of a layer at any moment: while it connects, transfers or closes. */
enum LayerFault implements AnyLayer {
    /** Another thread closes the client. */
    CLOSED_BY_ANOTHER {
        @Override
        public void inject(Worker worker, Layer layer, RandomGenerator random) throws Exception {
            InetSocketAddress server = new Exchanges(layer).server(worker);
            try (Layer.Client client = layer.client(worker, random)) {
                Future<Void> closing = worker.runSoon(random, client::close);
                Expect.failureOf(() -> Exchanges.run(worker, random, server, client, Integer.MAX_VALUE),
                        layer.closed());
                worker.join(closing);
            }
        }
    },
    /** The client's thread is interrupted. */
    INTERRUPTED {
        @Override
        public void inject(Worker worker, Layer layer, RandomGenerator random) throws Exception {
            InetSocketAddress server = new Exchanges(layer).server(worker);
            try (Layer.Client client = layer.client(worker, random)) {
                Future<Void> interrupting = worker.interruptSoon(random);
                Exception e = Expect.failureOf(() -> Exchanges.run(worker, random, server, client, Integer.MAX_VALUE),
                        InterruptedException.class, InterruptedIOException.class, ClosedByInterruptException.class);
                LossException.unless(Thread.interrupted() == e instanceof ClosedByInterruptException,
                        "only a channel that an interrupt has closed leaves the status set: %s", e);
                worker.join(interrupting);
            }
        }
    },
    /** The server is closed, in one process with its clients. */
    SERVER_CLOSED {
        @Override
        public void inject(Worker worker, Layer layer, RandomGenerator random) throws Exception {
            Layer.Server server = layer.serve(worker);
            Future<Void> closing = worker.runSoon(random, server::close);
            untilTheEnd(worker, layer, random, server.address());
            worker.join(closing);
        }
    },
    /** The process of clients is killed. */
    CLIENT_KILLED {
        @Override
        public void inject(Worker worker, Layer layer, RandomGenerator random) throws Exception {
            InetSocketAddress server = new Exchanges(layer).server(worker);
            Process process = start(worker, layer, server.getPort());
            try (BufferedReader output = process.inputReader()) {
                LossException.unless(output.readLine() != null, "a process of clients has not begun");
                worker.join(worker.runSoon(random, () -> LossException.unless(process.isAlive(),
                        "a process of clients has failed")));
            } finally {
                process.destroyForcibly().waitFor();
            }
        }
    },
    /** The process of the server is killed. */
    SERVER_KILLED {
        @Override
        public void inject(Worker worker, Layer layer, RandomGenerator random) throws Exception {
            Process process = start(worker, layer, 0);
            try (BufferedReader output = process.inputReader()) {
                String port = output.readLine();
                LossException.unless(port != null, "a process of a server has not begun");
                Future<Void> killing = worker.runSoon(random, process::destroyForcibly);
                untilTheEnd(worker, layer, random, new InetSocketAddress(worker.anyPort().getAddress(),
                        Integer.parseInt(port)));
                worker.join(killing);
            } finally {
                process.destroyForcibly().waitFor();
            }
        }
    };

    /** Those that start a process, which takes longer than anything else. */
    static final Set<LayerFault> PROCESSES = EnumSet.of(CLIENT_KILLED, SERVER_KILLED);

    /** Runs clients, one after the other, until the server has gone. */
    private static void untilTheEnd(Worker worker, Layer layer, RandomGenerator random, InetSocketAddress server)
            throws LossException {
        Expect.failureOf(() -> {
            while (true) {
                new Exchanges(layer).run(worker, random, server);
            }
        }, layer.ended());
    }

    private static Process start(Worker worker, Layer layer, int port) throws Exception {
        return PeerProcess.start(LayerFault.class, List.of(), List.of(), layer.toString(),
                worker.anyPort().getAddress().getHostAddress(), Integer.toString(port), worker.timeout().toString());
    }

    /** Runs clients of a server, or a server if the port is 0. The arguments: layer, address, port and timeout. */
    public static void main(String[] args) throws Exception {
        Layer layer = Layer.ALL.stream().filter(known -> known.toString().equals(args[0])).findAny().orElseThrow();
        InetSocketAddress server = new InetSocketAddress(InetAddress.ofLiteral(args[1]), Integer.parseInt(args[2]));
        try (Worker worker = new Worker(server.getAddress(), new Counters(), Duration.parse(args[3]))) {
            if (server.getPort() == 0) {
                System.out.println(new Exchanges(layer).server(worker).getPort());
                // until it is killed
                int ignored = System.in.read();
            } else {
                System.out.println("clients");
                RandomGenerator random = new SplittableRandom();
                while (true) {
                    new Exchanges(layer).run(worker, random, server);
                }
            }
        }
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
