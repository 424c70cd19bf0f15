// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;

import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The server: one table, and two ways to it. */
@Command(name = "kv_server", sortOptions = false,
        header = "A key-value store whose values are got by RDMA reads, and over TCP too.",
        description = "Its clients are those of kv_load.",
        footer = {"%nFor example:", "  rdmacm kv_server -a 192.168.99.1"})
public final class KvServer implements Callable<Integer> {
    private static final int MOST_SLOTS = 1 << 24;

    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "Where to listen: the address of an RDMA device.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7473",
            description = "The port for RDMA (${DEFAULT-VALUE}); 0 for a free one. That for TCP is a free one, which"
                    + " clients are told. Both are printed.")
    private int port;

    @Option(names = "--slots", paramLabel = "N", defaultValue = "16384",
            description = "How many keys there is room for (${DEFAULT-VALUE}), a power of two; better twice as many as"
                    + " will come.")
    private int slots;

    @Option(names = "--key-size", paramLabel = "SIZE", defaultValue = "32",
            description = "How many bytes a key can have (${DEFAULT-VALUE}).")
    private int keySize;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "1024",
            description = "How many bytes a value can have (${DEFAULT-VALUE}).")
    private int valueSize;

    @Option(names = "-d", description = "Print when clients leave.")
    private boolean debug;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public KvServer() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.requirePort(spec, port);
        Usage.require(spec, Integer.bitCount(slots) == 1 && slots >= KvLayout.PROBES && slots <= MOST_SLOTS,
                "Invalid number of slots " + slots + " (a power of two from " + KvLayout.PROBES + " to " + MOST_SLOTS
                        + ")");
        requireSize("key", keySize);
        requireSize("value", valueSize);
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), debug);
        // Freed when nobody can read it any more.
        try (Arena arena = Arena.ofShared()) {
            KvTable table = new KvTable(new KvLayout(slots, keySize, valueSize), arena);
            KvRequests requests = new KvRequests(table);
            try (TcpService tcp = new TcpService(new InetSocketAddress(address, 0), requests, console);
                    RdmaService rdma = new RdmaService(new InetSocketAddress(address, port), requests, tcp.port(),
                            console)) {
                console.print("a table of " + table.layout().bytes() + " bytes; RDMA port " + rdma.address().getPort()
                        + ", TCP port " + tcp.port());
                rdma.run();
            }
        }
        return 0;
    }

    private void requireSize(String what, int size) {
        Usage.require(spec, size >= 1 && size <= KvLayout.MOST_BYTES, "Invalid " + what + " size " + size
                + " (valid range is 1 to " + KvLayout.MOST_BYTES + ")");
    }
}
