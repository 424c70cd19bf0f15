// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The load generator: the same work over RDMA, then over TCP, every value checked, and a table of both. */
@Command(name = "kv_load", sortOptions = false, header = "Load for a kv_server: RDMA and TCP compared.",
        description = "Some clients at once put and get values, first over RDMA, then over TCP. All values are"
                + " checked.",
        footer = {"%nFor example:", "  rdmacm kv_load -a 192.168.99.1 -n 100000 -t 8 -r 99"})
public final class KvLoad implements Callable<Integer> {
    private static final int MOST_CLIENTS = 256;

    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "The server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7473",
            description = "The server's port for RDMA (${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "-n", paramLabel = "COUNT", defaultValue = "20000",
            description = "How many operations over each (${DEFAULT-VALUE}).")
    private int operations;

    @Option(names = "-t", paramLabel = "CLIENTS", defaultValue = "4",
            description = "How many clients at once, each a thread and a connection (${DEFAULT-VALUE}).")
    private int clients;

    @Option(names = "-k", paramLabel = "KEYS", defaultValue = "1000", description = "How many keys (${DEFAULT-VALUE}).")
    private int keys;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "128",
            description = "Bytes of a value (${DEFAULT-VALUE}).")
    private int size;

    @Option(names = "-r", paramLabel = "PERCENT", defaultValue = "95",
            description = "How many of a hundred operations are gets (${DEFAULT-VALUE}).")
    private int readPercent;

    @Option(names = "--progress", negatable = true,
            description = "Draw a progress bar on standard error, or not; if not given, where that is a terminal.")
    private Boolean progressWanted;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public KvLoad() {
    }

    /** Makes a client of the load. */
    @FunctionalInterface
    private interface Connector {
        KvClient connect() throws IOException, InterruptedException;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        LoadPlan plan = new LoadPlan(operations, clients, keys, size, readPercent);
        Progress progress = new Progress(terminal(), 2L * (operations + 2L * keys));
        InetSocketAddress server = new InetSocketAddress(address, port);
        try (RdmaClient observer = new RdmaClient(server)) {
            requireFits(observer.layout());
            LoadReport report = new LoadReport(plan, observer.deviceName());
            try {
                compare(observer, server, plan, progress, report);
            } finally {
                progress.end();
            }
            report.print(console);
        }
        return 0;
    }

    /** One after the other: they would take each other's time. */
    private void compare(RdmaClient observer, InetSocketAddress server, LoadPlan plan, Progress progress,
            LoadReport report) throws IOException, InterruptedException {
        long before = observer.handled();
        LoadResult rdma = run("RDMA", () -> new RdmaClient(server), plan, progress);
        long between = observer.handled();
        report.add("RDMA", rdma, between - before);
        InetSocketAddress tcpServer = new InetSocketAddress(address, observer.tcpPort());
        LoadResult tcp = run("TCP", () -> new TcpClient(tcpServer, observer.messageBytes()), plan, progress);
        report.add("TCP", tcp, observer.handled() - between);
    }

    /** All clients at once; the first that fails ends all. */
    private static LoadResult run(String name, Connector connector, LoadPlan plan, Progress progress)
            throws IOException, InterruptedException {
        progress.begin("load over " + name);
        try (Resources connections = new Resources()) {
            List<LoadWorker> workers = new ArrayList<>();
            CyclicBarrier together = new CyclicBarrier(plan.clients());
            for (int i = 0; i < plan.clients(); i++) {
                KvClient client = connector.connect();
                connections.onClose(client::close);
                workers.add(new LoadWorker(client, plan, i, together, progress));
            }
            return runAll(workers);
        }
    }

    private static LoadResult runAll(List<LoadWorker> workers) throws IOException, InterruptedException {
        LoadResult sum = new LoadResult();
        try (ExecutorService threads = Executors.newFixedThreadPool(workers.size())) {
            ExecutorCompletionService<LoadResult> finished = new ExecutorCompletionService<>(threads);
            workers.forEach(finished::submit);
            try {
                for (int i = 0; i < workers.size(); i++) {
                    sum.add(finished.take().get());
                }
            } catch (ExecutionException e) {
                throw failure(e.getCause());
            } finally {
                threads.shutdownNow();
            }
        }
        return sum;
    }

    private static IOException failure(Throwable cause) {
        return cause instanceof IOException known ? known : new IOException(Console.describe(cause), cause);
    }

    private PrintWriter terminal() {
        boolean wanted = progressWanted == null
                ? System.console() != null && System.console().isTerminal()
                : progressWanted;
        return wanted ? spec.commandLine().getErr() : null;
    }

    private void requireFits(KvLayout layout) throws IOException {
        int keyBytes = LoadValue.key(keys).length;
        if (size > layout.valueBytes() || keyBytes > layout.keyBytes()) {
            throw new IOException("the server's values have at most " + layout.valueBytes() + " bytes and its keys "
                    + layout.keyBytes() + ", not " + size + " and " + keyBytes + ": start it with -S and --key-size");
        }
    }

    private void check() {
        Usage.requirePort(spec, port);
        Usage.require(spec, port != 0, "a client needs the server's port: -p PORT");
        Usage.require(spec, operations >= 1, "Invalid count " + operations);
        Usage.require(spec, clients >= 1 && clients <= MOST_CLIENTS, "Invalid number of clients " + clients
                + " (valid range is 1 to " + MOST_CLIENTS + ")");
        Usage.require(spec, keys >= clients, "Invalid number of keys " + keys + ": each client needs one of its own");
        Usage.require(spec, size >= LoadValue.LEAST && size <= KvLayout.MOST_BYTES, "Invalid size " + size
                + " (valid range is " + LoadValue.LEAST + " to " + KvLayout.MOST_BYTES + ")");
        Usage.require(spec, readPercent >= 0 && readPercent <= 100, "Invalid percentage " + readPercent);
    }
}
