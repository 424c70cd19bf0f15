// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code kv_server}: one table, which is served over RDMA and TCP. */
@Command(name = "kv_server", sortOptions = false,
        header = "A key-value store that is read by RDMA reads, and over TCP.",
        description = "kv_load is its client.",
        footer = {"%nFor example:", "  rdmacm kv_server -a 192.168.99.1"})
public final class KvServer implements Callable<Integer> {
    private static final int MAX_SLOTS = 1 << 24;

    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "The address to listen on, of an RDMA device.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7473",
            description = "The RDMA port (${DEFAULT-VALUE}); 0 for a free one. The TCP port is always a free one, which"
                    + " the server tells its clients. Both are printed.")
    private int port;

    @Option(names = "--slots", paramLabel = "N", defaultValue = "16384",
            description = "The number of slots (${DEFAULT-VALUE}), a power of two; preferably at least twice the number"
                    + " of keys.")
    private int slots;

    @Option(names = "--key-size", paramLabel = "SIZE", defaultValue = "32",
            description = "The maximum length of a key in bytes (${DEFAULT-VALUE}).")
    private int keySize;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "1024",
            description = "The maximum length of a value in bytes (${DEFAULT-VALUE}).")
    private int valueSize;

    @Option(names = "-d", description = "Print when a client disconnects.")
    private boolean debug;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public KvServer() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.requirePort(spec, port);
        Usage.require(spec, Integer.bitCount(slots) == 1 && slots >= KvLayout.PROBES && slots <= MAX_SLOTS,
                "Invalid number of slots " + slots + " (a power of two from " + KvLayout.PROBES + " to " + MAX_SLOTS
                        + ")");
        requireSize("key", keySize);
        requireSize("value", valueSize);
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), debug);
        // Freed after the RDMA service has closed: until then clients may read it.
        try (Arena arena = Arena.ofShared()) {
            KvTable table = new KvTable(new KvLayout(slots, keySize, valueSize), arena);
            KvRequests requests = new KvRequests(table);
            try (TcpService tcp = new TcpService(new InetSocketAddress(address, 0), requests, console);
                    RdmaService rdma = new RdmaService(new InetSocketAddress(address, port), requests, tcp.port(),
                            console)) {
                console.print("a table of " + table.layout().bytes() + " bytes; RDMA port " + rdma.address().getPort()
                        + ", TCP port " + tcp.port());
                // until it is interrupted
                new CountDownLatch(1).await();
            }
        }
        return 0;
    }

    private void requireSize(String what, int size) {
        Usage.require(spec, size >= 1 && size <= KvLayout.MAX_BYTES, "Invalid " + what + " size " + size
                + " (valid range is 1 to " + KvLayout.MAX_BYTES + ")");
    }
}
