// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.lang.foreign.Arena;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.verbs.MemoryRegion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code rdma_client}, as rdma_client(1): the synchronous calls, from connect to disconnect. It sends a
 * message, and waits for the one that {@link RdmaServer} sends back.
 */
@Command(name = "rdma_client", header = "Connects, sends and receives with the synchronous calls.",
        description = "Sends a message to rdma_server and receives one.",
        footer = {"%nFor example:", "  rdmacm rdma_client -s 192.168.99.1"})
class RdmaClient extends SynchronousProgram {
    @Option(names = "-s", paramLabel = "ADDR", defaultValue = "127.0.0.1",
            description = "The server's address or name (${DEFAULT-VALUE}).")
    private String server;

    @Override
    void exchange() throws IOException, InterruptedException {
        // Resolves address and route, and creates the queue pair with its completion queues.
        try (Arena arena = Arena.ofConfined();
                Endpoint endpoint = Endpoint.create(address(server, false), ATTRIBUTES, timeout())) {
            MemoryRegion memory = endpoint.registerMessages(arena.allocate(2 * SIZE));
            exchange(endpoint, memory);
            endpoint.disconnect(timeout());
        }
    }

    void exchange(Endpoint endpoint, MemoryRegion memory) throws IOException, InterruptedException {
        // Before the connection is established, so that the answer finds a receive request.
        endpoint.postReceive(0, memory, SIZE, SIZE);
        endpoint.connect(ConnectionParameters.defaults(), timeout());
        send(endpoint, memory, 0);
        // The answer shows whether the message arrived.
        awaitLastSend(endpoint);
        awaitMessage(endpoint);
    }
}
