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

/** The command {@code kv_load}: runs the same load over RDMA, then over TCP, checks every value, and prints a table. */
@Command(name = "kv_load", sortOptions = false, header = "Generates load for a kv_server, and compares RDMA with TCP.",
        description = "Several clients put and get values in parallel, first over RDMA, then over TCP. All values are"
                + " checked.",
        footer = {"%nFor example:", "  rdmacm kv_load -a 192.168.99.1 -n 100000 -t 8 -r 99"})
public final class KvLoad implements Callable<Integer> {
    private static final int MAX_CLIENTS = 256;

    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "The server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7473",
            description = "The server's RDMA port (${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "-n", paramLabel = "COUNT", defaultValue = "20000",
            description = "How many operations over each transport (${DEFAULT-VALUE}).")
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
    private int readPercent;

    @Option(names = "--progress", negatable = true,
            description = "Draw a progress bar on standard error, or not; by default if that is a terminal.")
    private Boolean progressWanted;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public KvLoad() {
    }

    /** Connects a client. */
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

    /** Runs the load over RDMA and TCP, one after the other so that they do not disturb each other. */
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

    /** Runs all clients in parallel; the first failure ends the run. */
    private static LoadResult run(String name, Connector connector, LoadPlan plan, Progress progress)
            throws IOException, InterruptedException {
        progress.begin("load over " + name);
        try (Resources connections = new Resources()) {
            List<LoadWorker> workers = new ArrayList<>();
            CyclicBarrier barrier = new CyclicBarrier(plan.clients());
            for (int i = 0; i < plan.clients(); i++) {
                KvClient client = connector.connect();
                connections.onClose(client::close);
                workers.add(new LoadWorker(client, plan, i, barrier, progress));
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
        Usage.require(spec, clients >= 1 && clients <= MAX_CLIENTS, "Invalid number of clients " + clients
                + " (valid range is 1 to " + MAX_CLIENTS + ")");
        Usage.require(spec, keys >= clients, "Invalid number of keys " + keys + ": each client needs one of its own");
        Usage.require(spec, size >= LoadValue.MIN_BYTES && size <= KvLayout.MAX_BYTES, "Invalid size " + size
                + " (valid range is " + LoadValue.MIN_BYTES + " to " + KvLayout.MAX_BYTES + ")");
        Usage.require(spec, readPercent >= 0 && readPercent <= 100, "Invalid percentage " + readPercent);
    }
}
