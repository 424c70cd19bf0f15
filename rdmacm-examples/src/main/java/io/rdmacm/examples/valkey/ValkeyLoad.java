// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Callable;

import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.examples.load.LoadOptions;
import io.rdmacm.examples.load.LoadPlan;
import io.rdmacm.examples.load.LoadReport;
import io.rdmacm.examples.load.LoadRun;
import io.rdmacm.examples.load.Progress;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code valkey_load}: runs the same load over RDMA, then over TCP, checks all values, prints a table. */
@Command(name = "valkey_load", sortOptions = false,
        header = "Generates load for a Valkey server, and compares RDMA with TCP.",
        description = "Several clients SET and GET values in parallel, first over RDMA, then over TCP. All values are"
                + " checked. The keys key-0, key-1 and so on are overwritten.",
        footer = {"%nFor example, a server with RDMA and TCP on the same port, and a load of 16 requests at once:",
            "  valkey-server --save '' --protected-mode no --rdma-bind 192.168.99.1 --rdma-port 6379",
            "  rdmacm valkey_load -a 192.168.99.1 -P 16"})
public final class ValkeyLoad implements Callable<Integer> {
    private static final int MAX_BYTES = 1 << 24;
    private static final int MAX_DEPTH = 512;

    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "The server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "6379",
            description = "The server's rdma-port (${DEFAULT-VALUE}); 0 to leave out RDMA.")
    private int port;

    @Option(names = "--tcp-port", paramLabel = "PORT", defaultValue = "6379",
            description = "The server's TCP port (${DEFAULT-VALUE}); 0 to leave out TCP.")
    private int tcpPort;

    @Option(names = "-P", paramLabel = "DEPTH", defaultValue = "1", description = "How many requests each client sends"
            + " at once, before it waits for their answers (${DEFAULT-VALUE}).")
    private int depth;

    @Option(names = "--spin", paramLabel = "MICROSECONDS", defaultValue = "0", description = "How long to poll for an"
            + " answer over RDMA before sleeping until it arrives (${DEFAULT-VALUE}).")
    private int spin;

    @Mixin
    private LoadOptions load;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public ValkeyLoad() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.requirePort(spec, port);
        Usage.requirePort(spec, tcpPort);
        Usage.require(spec, port != 0 || tcpPort != 0, "neither RDMA nor TCP: -p PORT or --tcp-port PORT");
        Usage.require(spec, depth >= 1 && depth <= MAX_DEPTH, "Invalid depth " + depth + " (valid range is 1 to "
                + MAX_DEPTH + ")");
        Usage.require(spec, spin >= 0, "Invalid time " + spin);
        LoadPlan plan = load.plan(spec, MAX_BYTES, depth);
        Progress progress = load.progress(spec, (port == 0 || tcpPort == 0 ? 1 : 2) * LoadRun.steps(plan));
        LoadReport report;
        try {
            report = port == 0 ? new LoadReport(plan, "no RDMA device") : overRdma(plan, progress);
            if (tcpPort != 0) {
                progress.begin("load over TCP");
                InetSocketAddress server = new InetSocketAddress(address, tcpPort);
                report.add("TCP", LoadRun.run(() -> new ValkeyLoadClient(TcpStream.connect(server)), plan, progress));
            }
        } finally {
            progress.end();
        }
        report.print(new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false));
        return 0;
    }

    private LoadReport overRdma(LoadPlan plan, Progress progress) throws IOException, InterruptedException {
        InetSocketAddress server = new InetSocketAddress(address, port);
        WaitPolicy waiting = WaitPolicy.spinFor(Duration.ofNanos(1000L * spin));
        try (ConnectionManager manager = ConnectionManager.open()) {
            LoadReport report;
            try (RdmaStream probe = RdmaStream.connect(manager, server, waiting)) {
                report = new LoadReport(plan, probe.deviceName());
            }
            progress.begin("load over RDMA");
            report.add("RDMA", LoadRun.run(() -> new ValkeyLoadClient(RdmaStream.connect(manager, server, waiting)),
                    plan, progress));
            return report;
        }
    }
}
