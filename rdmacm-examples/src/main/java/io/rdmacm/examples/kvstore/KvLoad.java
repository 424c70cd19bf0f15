// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;

import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.examples.load.LoadOptions;
import io.rdmacm.examples.load.LoadPlan;
import io.rdmacm.examples.load.LoadReport;
import io.rdmacm.examples.load.LoadResult;
import io.rdmacm.examples.load.LoadRun;
import io.rdmacm.examples.load.LoadValue;
import io.rdmacm.examples.load.Progress;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code kv_load}: runs the same load over RDMA, then over TCP, checks every value, and prints a table. */
@Command(name = "kv_load", sortOptions = false, header = "Generates load for a kv_server, and compares RDMA with TCP.",
        description = "Several clients put and get values in parallel, first over RDMA, then over TCP. All values are"
                + " checked.",
        footer = {"%nFor example:", "  rdmacm kv_load -a 192.168.99.1 -n 100000 -t 8 -r 99"})
public final class KvLoad implements Callable<Integer> {
    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "The server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7473",
            description = "The server's RDMA port (${DEFAULT-VALUE}).")
    private int port;

    @Mixin
    private LoadOptions load;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public KvLoad() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.requirePort(spec, port);
        Usage.require(spec, port != 0, "a client needs the server's port: -p PORT");
        LoadPlan plan = load.plan(spec, KvLayout.MAX_BYTES, 1);
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        Progress progress = load.progress(spec, 2 * LoadRun.steps(plan));
        try (ConnectionManager manager = ConnectionManager.open();
                RdmaClient observer = new RdmaClient(manager, new InetSocketAddress(address, port))) {
            requireFits(observer.layout(), plan);
            LoadReport report = new LoadReport(plan, observer.deviceName(), "handled by", "the server");
            LongAdder tornReads = new LongAdder();
            try {
                compare(manager, observer, plan, progress, report, tornReads);
            } finally {
                progress.end();
            }
            report.print(console, "\"handled by the server\" counts the " + 2 * plan.keys() + " puts and gets before"
                    + " the measurement too; over RDMA it counts only puts.",
                    tornReads + " reads overlapped a write and were repeated.");
        }
        return 0;
    }

    /** Runs the load over RDMA and TCP, one after the other so that they do not disturb each other. */
    private void compare(ConnectionManager manager, RdmaClient observer, LoadPlan plan, Progress progress,
            LoadReport report, LongAdder tornReads) throws IOException, InterruptedException {
        InetSocketAddress server = new InetSocketAddress(address, port);
        long before = observer.handled();
        progress.begin("load over RDMA");
        LoadResult rdma = LoadRun.run(() -> new KvLoadClient(new RdmaClient(manager, server), tornReads), plan,
                progress);
        long between = observer.handled();
        report.add("RDMA", rdma, between - before);
        InetSocketAddress tcpServer = new InetSocketAddress(address, observer.tcpPort());
        progress.begin("load over TCP");
        LoadResult tcp = LoadRun.run(() -> new KvLoadClient(new TcpClient(tcpServer, observer.messageBytes()),
                tornReads), plan, progress);
        report.add("TCP", tcp, observer.handled() - between);
    }

    private static void requireFits(KvLayout layout, LoadPlan plan) throws IOException {
        int keyBytes = LoadValue.key(plan.keys()).length;
        if (plan.valueBytes() > layout.valueBytes() || keyBytes > layout.keyBytes()) {
            throw new IOException("the server's values have at most " + layout.valueBytes() + " bytes and its keys "
                    + layout.keyBytes() + ", not " + plan.valueBytes() + " and " + keyBytes
                    + ": start it with -S and --key-size");
        }
    }
}
