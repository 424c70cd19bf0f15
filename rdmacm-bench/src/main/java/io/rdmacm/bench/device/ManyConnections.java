// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.measure.Usage;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Side;

/**
 * What many connections in one process take: memory, files and threads of the server, and the time to set them up.
 * Nothing in C is measured beside it.
 */
final class ManyConnections {
    /** The name of the results. */
    static final String NAME = "many_connections";

    // so many times fewer connections with receives of their own: their memory has to fit into a small machine
    private static final int FEWER = 5;
    // Of this size from the start, so that resident memory grows by what is outside of the heap.
    private static final int HEAP_MEGABYTES = 128;
    private static final double KIB = 1024;

    private ManyConnections() {
    }

    /**
     * Measures connections with shared receives, and fewer with receives of their own.
     *
     * @param count how many connections share receives
     */
    static void run(Cpus cpus, int count, Collector collector) throws IOException, InterruptedException {
        measure("shared", cpus, count, collector);
        measure("own", cpus, count / FEWER, collector);
    }

    private static void measure(String receives, Cpus cpus, int count, Collector collector)
            throws IOException, InterruptedException {
        // in new processes, which hold no memory of earlier measurements
        try (PeerProcess server = new PeerProcess(cpus.server(), HEAP_MEGABYTES);
                PeerProcess client = new PeerProcess(cpus.client(), HEAP_MEGABYTES)) {
            JavaBench.connect(server, client, "many", 0, receives + " " + count);
            server.send("run");
            client.send("run");
            String[] took = client.receive("took").split(" ");
            Usage used = Usage.parse(server.receive("used"));
            JavaBench.close(server, client);
            Map<String, Object> params = new LinkedHashMap<>();
            params.put("receives", receives);
            params.put("connections", count);
            double heap = (double) used.heap() / count;
            double registered = (double) used.registered() / count;
            double resident = used.resident() / KIB / count;
            double setUp = Double.parseDouble(took[0]);
            add(collector, params, "heap", "B/connection", heap);
            add(collector, params, "registered", "B/connection", registered);
            add(collector, params, "resident", "KiB/connection", resident);
            add(collector, params, "files", "in all", used.files());
            add(collector, params, "threads", "in all", used.threads());
            add(collector, params, "set_up", "s", setUp);
            add(collector, params, "exchange", "s", Double.parseDouble(took[1]));
            DeviceBenchmark.say("%d connections with %s receives: %.0f B of heap, %.0f B registered and %.1f KiB "
                    + "resident each, set up in %.1f s", count, receives, heap, registered, resident, setUp);
        }
    }

    private static void add(Collector collector, Map<String, Object> params, String metric, String unit,
            double value) {
        collector.add(new Result(NAME, Side.JAVA, params, metric, unit, value));
    }
}
