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
 * The command {@code rdma_server}, as rdma_server(1): the synchronous calls, from listen to disconnect. It serves one
 * client: waits for its message, and sends one back.
 */
@Command(name = "rdma_server", header = "Listens, receives and sends with the synchronous calls.",
        description = "Accepts one rdma_client, receives a message and sends one back.",
        footer = {"%nFor example:", "  rdmacm rdma_server"})
final class RdmaServer extends SynchronousProgram {
    @Option(names = "-s", paramLabel = "ADDR", defaultValue = "0.0.0.0",
            description = "The address to listen on (${DEFAULT-VALUE}: every IPv4 address).")
    private String address;

    @Override
    void exchange() throws IOException, InterruptedException {
        // The attributes are those of the queue pairs of the endpoints that getRequest returns.
        try (Endpoint listener = Endpoint.create(address(address, true), ATTRIBUTES, timeout())) {
            listener.listen(0);
            try (Arena arena = Arena.ofConfined(); Endpoint client = listener.getRequest(FOREVER)) {
                MemoryRegion memory = client.registerMessages(arena.allocate(2 * SIZE));
                // Before the connection is established, so that the message finds a receive request.
                client.postReceive(0, memory, 0, SIZE);
                client.accept(ConnectionParameters.defaults(), timeout());
                awaitMessage(client);
                send(client, memory, SIZE);
                awaitLastSend(client);
                client.disconnect(timeout());
            }
        }
    }
}
