// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.verbs.MemoryRegion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * The command {@code rdma_xclient}, as rdma_xclient(1): sends one message to {@link RdmaXserver}. Only reliable
 * connections are supported, not XRC.
 */
@Command(name = "rdma_xclient", header = "Sends a message to rdma_xserver.",
        description = "Connects, and sends one message.",
        footer = {"%nFor example:", "  rdmacm rdma_xclient -s 192.168.99.1 -c r"})
final class RdmaXclient extends RdmaClient {
    @Mixin
    private ConnectionType type;

    @Override
    void exchange() throws IOException, InterruptedException {
        type.requireReliable();
        super.exchange();
    }

    @Override
    void exchange(Endpoint endpoint, MemoryRegion memory) throws IOException, InterruptedException {
        endpoint.connect(ConnectionParameters.defaults(), timeout());
        send(endpoint, memory, 0);
        check(endpoint.getSendCompletion(timeout()));
    }
}
