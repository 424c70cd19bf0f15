// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;

import io.rdmacm.examples.support.ExampleProgram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code kv_server}: one table, which clients read by themselves. */
@Command(name = "kv_server",
        header = "A key-value store that is read by RDMA reads.",
        description = "kv_client is its client. Prints each put; gets are not noticed.",
        footer = {"%nFor example:", "  rdmacm kv_server -a 192.168.99.1"})
final class KvServer extends ExampleProgram {
    private static final int MAX_SLOTS = 1 << 24;

    @Option(names = "-a", paramLabel = "ADDR", required = true,
            description = "The address to listen on, of an RDMA device.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7473",
            description = "The port (${DEFAULT-VALUE}); 0 for a free one, which is printed.")
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

    @Override
    protected void run() throws IOException, InterruptedException {
        requirePort(port, false);
        require(!address.isAnyLocalAddress(), "an address of an RDMA device is needed: -a ADDR");
        require(Integer.bitCount(slots) == 1 && slots >= KvLayout.PROBES && slots <= MAX_SLOTS,
                "Invalid number of slots " + slots + " (a power of two from " + KvLayout.PROBES + " to " + MAX_SLOTS
                        + ")");
        requireSize("key", keySize);
        requireSize("value", valueSize);
        // Freed after the service has closed: until then clients may read it.
        try (Arena arena = Arena.ofShared()) {
            KvTable table = new KvTable(new KvLayout(slots, keySize, valueSize), arena);
            try (KvService service = new KvService(new InetSocketAddress(address, port), table, this::print)) {
                print("a table of " + table.layout().bytes() + " bytes; listening on port "
                        + service.address().getPort());
                // until it is interrupted
                new CountDownLatch(1).await();
            }
        }
    }

    private void requireSize(String what, int size) {
        require(size >= 1 && size <= KvLayout.MAX_BYTES, "Invalid " + what + " size " + size
                + " (valid range is 1 to " + KvLayout.MAX_BYTES + ")");
    }
}
