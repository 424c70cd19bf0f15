// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.io.Serializable;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Outcome;

/**
 * The Java side: two processes, as with perftest. They are kept for all measurements, so that compiled code is
 * measured; a warm-up precedes the first measurement of each kind.
 */
final class JavaSide implements AutoCloseable {
    private final Cpus cpus;
    private final int heap;
    private final Set<String> warm = new HashSet<>();
    private PeerProcess server;
    private PeerProcess client;

    /**
     * Prepares the two processes, which are started when they are needed.
     *
     * @param cpus the CPUs to run on
     * @param heap the megabytes of heap of each
     */
    JavaSide(Cpus cpus, int heap) {
        this.cpus = cpus;
        this.heap = heap;
    }

    /** Measures a trial once. */
    Outcome run(Trial trial) throws IOException {
        boolean done = false;
        try {
            if (client == null) {
                server = new PeerProcess(cpus.server(), heap);
                client = new PeerProcess(cpus.client(), heap);
            }
            if (trial.warmUp().iterations() > 0 && warm.add(trial.kind())) {
                measure(trial.opener(), trial.warmUp());
            }
            Outcome outcome = measure(trial.opener(), trial.load());
            done = true;
            return outcome;
        } finally {
            if (!done) {
                // one process may be waiting for the other
                close();
            }
        }
    }

    private Outcome measure(End.Opener opener, End.Load load) throws IOException {
        server.send(peer -> peer.open(opener, load, false));
        Serializable ofServer = (Serializable) server.receive();
        client.send(peer -> peer.open(opener, load, true));
        Serializable ofClient = (Serializable) client.receive();
        both(peer -> peer.connect(ofClient), peer -> peer.connect(ofServer));
        Outcome outcome = both(Peer::run, Peer::run);
        both(Peer::close, Peer::close);
        return outcome;
    }

    /** Calls both ends, and returns what they have measured. */
    private Outcome both(Peer.Call ofServer, Peer.Call ofClient) throws IOException {
        server.send(ofServer);
        client.send(ofClient);
        Outcome outcome = Outcome.none();
        for (PeerProcess peer : List.of(client, server)) {
            if (peer.receive() instanceof Outcome measured) {
                outcome = outcome.and(measured);
            }
        }
        return outcome;
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
