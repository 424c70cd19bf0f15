// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.examples.support.ExampleProgram;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Resources;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code kv_load}: clients that put and get in parallel. They check every value, and are timed. */
@Command(name = "kv_load", header = "Generates load for a kv_server, and checks every value.",
        description = "Several clients put and get values in parallel. The table shows how long that took, in"
                + " microseconds.",
        footer = {"%nFor example:", "  rdmacm kv_load -a 192.168.99.1 -n 100000 -t 8 -r 99"})
final class KvLoad extends ExampleProgram {
    private static final int MAX_CLIENTS = 256;
    private static final int PERCENT = 100;

    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "The server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7473",
            description = "The server's port (${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "-n", paramLabel = "COUNT", defaultValue = "10000",
            description = "How many operations (${DEFAULT-VALUE}).")
    private int operations;

    @Option(names = "-t", paramLabel = "CLIENTS", defaultValue = "4",
            description = "How many clients, each with a thread and a connection (${DEFAULT-VALUE}).")
    private int clients;

    @Option(names = "-k", paramLabel = "KEYS", defaultValue = "1000", description = "How many keys (${DEFAULT-VALUE}).")
    private int keys;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "128",
            description = "The length of a value in bytes (${DEFAULT-VALUE}).")
    private int size;

    @Option(names = "-r", paramLabel = "PERCENT", defaultValue = "95",
            description = "The percentage of gets (${DEFAULT-VALUE}).")
    private int reads;

    private volatile long start;

    @Override
    protected void run() throws IOException, InterruptedException {
        requirePort(port, true);
        require(operations >= 1, "Invalid count " + operations);
        require(clients >= 1 && clients <= MAX_CLIENTS, "Invalid number of clients " + clients
                + " (valid range is 1 to " + MAX_CLIENTS + ")");
        require(keys >= clients, "Invalid number of keys " + keys + ": each client needs one of its own");
        require(size >= KvValue.MIN_BYTES && size <= KvLayout.MAX_BYTES, "Invalid size " + size
                + " (valid range is " + KvValue.MIN_BYTES + " to " + KvLayout.MAX_BYTES + ")");
        require(reads >= 0 && reads <= PERCENT, "Invalid percentage " + reads);
        InetSocketAddress server = new InetSocketAddress(address, port);
        try (ConnectionManager manager = ConnectionManager.open();
                KvClient observer = new KvClient(manager, server); Resources open = new Resources()) {
            requireFits(observer.layout());
            long before = observer.puts();
            List<KvWorker> workers = new ArrayList<>();
            CyclicBarrier ready = new CyclicBarrier(clients, () -> start = System.nanoTime());
            for (int i = 0; i < clients; i++) {
                KvClient client = new KvClient(manager, server);
                open.onClose(client::close);
                workers.add(new KvWorker(client, i, clients, keys, size, operations, reads, ready));
            }
            print(operations + " operations, " + reads + " % of them gets, by " + clients + " clients on " + keys
                    + " keys with values of " + size + " bytes, through " + observer.deviceName());
            runAll(workers);
            print("the server handled " + (observer.puts() - before)
                    + " puts, one of each key before the measurement, and did not notice the gets, of which "
                    + workers.stream().mapToLong(worker -> worker.client().tornReads()).sum()
                    + " overlapped a put and were repeated");
        }
    }

    private void requireFits(KvLayout layout) throws IOException {
        int keyBytes = KvValue.key(keys).length;
        if (!layout.fits(keyBytes, size)) {
            throw new IOException("the server's values have at most " + layout.valueBytes() + " bytes and its keys "
                    + layout.keyBytes() + ", not " + size + " and " + keyBytes + ": start it with -S and --key-size");
        }
    }

    /** Runs all clients in parallel, and prints what they measured; the first failure ends all of them. */
    private void runAll(List<KvWorker> workers) throws IOException, InterruptedException {
        try (ExecutorService threads = Executors.newFixedThreadPool(workers.size())) {
            ExecutorCompletionService<Void> finished = new ExecutorCompletionService<>(threads);
            workers.forEach(finished::submit);
            try {
                for (int i = 0; i < workers.size(); i++) {
                    finished.take().get();
                }
            } catch (ExecutionException e) {
                throw e.getCause() instanceof IOException known ? known : new IOException(e.getCause());
            } finally {
                threads.shutdownNow();
            }
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        print(String.format(Locale.ROOT, "%.0f operations/s; microseconds:", operations / seconds));
        print(String.format("%-4s%10s%10s%10s%10s", "", "count", "50 %", "99 %", "99.9 %"));
        report("get", workers.stream().flatMapToLong(KvWorker::gets).sorted().toArray());
        report("put", workers.stream().flatMapToLong(KvWorker::puts).sorted().toArray());
    }

    private void report(String what, long[] nanos) {
        StringBuilder row = new StringBuilder(String.format("%-4s%10d", what, nanos.length));
        for (double part : new double[] {0.5, 0.99, 0.999}) {
            row.append(nanos.length == 0 ? String.format("%10s", "-")
                    : String.format(Locale.ROOT, "%10.1f", nanos[(int) (part * (nanos.length - 1))] / 1e3));
        }
        print(row.toString());
    }
}
