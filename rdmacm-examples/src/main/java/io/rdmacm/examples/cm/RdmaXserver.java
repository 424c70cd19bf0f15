// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.lang.foreign.Arena;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * The command {@code rdma_xserver}, as rdma_xserver(1): receives one message from {@link RdmaXclient}. Only reliable
 * connections are supported, not XRC.
 *
 * <p>It receives through a shared receive queue, which the C program creates for XRC only; on the wire there is no
 * difference. As in C, the private data of the accept holds the number of that queue, which only XRC uses: 0.
 */
@Command(name = "rdma_xserver", header = "Receives a message through a shared receive queue.",
        description = "Accepts one rdma_xclient, and receives its message.",
        footer = {"%nFor example:", "  rdmacm rdma_xserver -c r"})
final class RdmaXserver extends SynchronousProgram {
    @Mixin
    private ConnectionType type;

    @Override
    void exchange() throws IOException, InterruptedException {
        type.requireReliable();
        // Without attributes: the client's queue pair is created below, after its shared receive queue.
        try (Endpoint listener = Endpoint.create(address(null, true), null, timeout())) {
            listener.listen(0);
            try (Arena arena = Arena.ofConfined(); Endpoint client = listener.getRequest(FOREVER)) {
                client.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().maxRequests(1).build());
                client.createQueuePair(ATTRIBUTES);
                MemoryRegion message = client.registerMessages(arena.allocate(SIZE));
                // Posted to the shared receive queue, because the endpoint has one.
                client.postReceive(0, message, 0, SIZE);
                client.accept(ConnectionParameters.builder().privateData(new byte[Integer.BYTES])
                        .responderResources(0).initiatorDepth(0).retryCount(0).rnrRetryCount(0).build(), timeout());
                awaitMessage(client);
                client.disconnect(timeout());
            }
        }
    }
}
