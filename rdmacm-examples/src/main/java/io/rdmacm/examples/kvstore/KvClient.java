// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.examples.support.ExampleProgram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code kv_client}: puts a value, or gets one. */
@Command(name = "kv_client", header = "The client of the key-value store.",
        description = "Puts a value with a message, or gets one by RDMA reads, which the server does not notice.",
        footer = {"%nFor example:", "  rdmacm kv_client -a 192.168.99.1 put greeting hello",
            "  rdmacm kv_client -a 192.168.99.1 get greeting"})
final class KvClient extends ExampleProgram {
    @Option(names = "-a", paramLabel = "ADDR", required = true,
            description = "The server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7473",
            description = "The server's port (${DEFAULT-VALUE}).")
    private int port;

    @Parameters(arity = "2..3", paramLabel = "WORD", description = "put KEY VALUE, or get KEY.")
    private List<String> words;

    @Override
    protected void run() throws IOException, InterruptedException {
        requirePort(port, true);
        boolean put = words.getFirst().equals("put");
        require(put ? words.size() == 3 : words.size() == 2 && words.getFirst().equals("get"),
                "put KEY VALUE, or get KEY");
        byte[] key = words.get(1).getBytes(StandardCharsets.UTF_8);
        try (ConnectionManager manager = ConnectionManager.open();
                KvConnection store = new KvConnection(manager, new InetSocketAddress(address, port))) {
            if (put) {
                store.put(key, words.get(2).getBytes(StandardCharsets.UTF_8));
                return;
            }
            byte[] value = store.get(key);
            if (value == null) {
                throw new IOException("there is no " + words.get(1));
            }
            print(new String(value, StandardCharsets.UTF_8));
        }
    }
}
