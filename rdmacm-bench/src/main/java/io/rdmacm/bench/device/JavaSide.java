// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.io.Serializable;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Outcome;

/**
 * The Java side: two processes, as with perftest. They are kept for all measurements, so that compiled code is
 * measured; a warm-up precedes the first measurement of each kind.
 */
final class JavaSide implements AutoCloseable {
    private static final long LIMIT_MINUTES = 15;

    private final Cpus cpus;
    private final Set<String> warm = new HashSet<>();
    private PeerProcess server;
    private PeerProcess client;

    /** Prepares the two processes, which are started when they are needed. */
    JavaSide(Cpus cpus) {
        this.cpus = cpus;
    }

    /** Measures a trial once. */
    Outcome run(Trial trial) throws IOException {
        if (client == null) {
            server = new PeerProcess(cpus.server());
            client = new PeerProcess(cpus.client());
        }
        CompletableFuture<Void> limit = CompletableFuture.runAsync(client::close,
                CompletableFuture.delayedExecutor(LIMIT_MINUTES, TimeUnit.MINUTES));
        try {
            if (trial.warmUp().iterations() > 0 && warm.add(trial.kind())) {
                measure(trial.opener(), trial.warmUp());
            }
            return measure(trial.opener(), trial.load());
        } catch (Exception e) {
            // one process may be waiting for the other
            close();
            throw new IOException(e.toString(), e);
        } finally {
            limit.cancel(false);
        }
    }

    private Outcome measure(End.Opener opener, End.Load load) throws Exception {
        Serializable ofServer = server.peer.open(opener, load, false);
        Serializable ofClient = client.peer.open(opener, load, true);
        both(() -> server.peer.connect(ofClient), () -> client.peer.connect(ofServer));
        Outcome outcome = both(server.peer::run, client.peer::run);
        both(server.peer::close, client.peer::close);
        return outcome;
    }

    /** Has both do something at the same time, and returns what the client does. */
    private static <T> T both(Callable<T> ofServer, Callable<T> ofClient) throws Exception {
        FutureTask<T> served = new FutureTask<>(ofServer);
        Thread.ofVirtual().start(served);
        T result = ofClient.call();
        served.get();
        return result;
    }

    @Override
    public void close() {
        if (client != null) {
            client.close();
            server.close();
        }
        client = null;
        server = null;
        warm.clear();
    }
}
