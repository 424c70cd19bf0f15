// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Set;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.RdmaDevices;
import io.rdmacm.examples.support.PeerProgram;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceCapability;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The synchronous calls, from connect or listen to disconnect: the commands {@code rdma_client} and
 * {@code rdma_server}, and their variants {@code rdma_xclient} and {@code rdma_xserver}. The client sends a message of
 * 16 bytes, all zero as in C. rdma_server sends one back; rdma_xserver does not, and receives through a shared receive
 * queue, which the C program creates for XRC only: on the wire there is no difference.
 */
abstract class SynchronousProgram extends PeerProgram {
    private static final int SIZE = 16;
    // One request per queue; every send is signaled.
    private static final EndpointAttributes ATTRIBUTES = EndpointAttributes.builder().maxSendRequests(1)
            .maxReceiveRequests(1).maxInlineData(SIZE).signalAll(true).build();

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            description = "The server's port (${DEFAULT-VALUE}).")
    private String port;

    /** Exchanges messages with the peer. */
    abstract void exchange() throws IOException, InterruptedException;

    /** The command {@code rdma_client}, as rdma_client(1). */
    @Command(name = "rdma_client", header = "Connects, sends and receives with the synchronous calls.",
            description = "Sends a message to rdma_server and receives one.",
            footer = {"%nFor example:", "  rdmacm rdma_client -s 192.168.99.1"})
    static class Client extends SynchronousProgram {
        @Option(names = "-s", paramLabel = "ADDR", defaultValue = "127.0.0.1",
                description = "The server's address or name (${DEFAULT-VALUE}).")
        String server;

        @Override
        void exchange() throws IOException, InterruptedException {
            connect(server, true);
        }
    }

    /** The command {@code rdma_xclient}, as rdma_xclient(1). */
    @Command(name = "rdma_xclient", header = "Sends a message to rdma_xserver.",
            description = "Connects, and sends one message.",
            footer = {"%nFor example:", "  rdmacm rdma_xclient -s 192.168.99.1 -c r"})
    static final class ExtendedClient extends Client {
        @Mixin
        private ConnectionType type;

        @Override
        void exchange() throws IOException, InterruptedException {
            type.requireReliable();
            connect(server, false);
        }
    }

    /** The command {@code rdma_server}, as rdma_server(1). */
    @Command(name = "rdma_server", header = "Listens, receives and sends with the synchronous calls.",
            description = "Accepts one rdma_client, receives a message and sends one back.",
            footer = {"%nFor example:", "  rdmacm rdma_server"})
    static final class Server extends SynchronousProgram {
        @Option(names = "-s", paramLabel = "ADDR", defaultValue = "0.0.0.0",
                description = "The address to listen on (${DEFAULT-VALUE}: every IPv4 address).")
        private String address;

        @Override
        void exchange() throws IOException, InterruptedException {
            serve(address, false);
        }
    }

    /** The command {@code rdma_xserver}, as rdma_xserver(1). */
    @Command(name = "rdma_xserver", header = "Receives a message through a shared receive queue.",
            description = "Accepts one rdma_xclient, and receives its message.",
            footer = {"%nFor example:", "  rdmacm rdma_xserver -c r"})
    static final class ExtendedServer extends SynchronousProgram {
        @Mixin
        private ConnectionType type;

        @Override
        void exchange() throws IOException, InterruptedException {
            type.requireReliable();
            serve(null, true);
        }
    }

    /** The option {@code -c}, of which the first letter counts, as in C. */
    private static final class ConnectionType {
        private boolean reliable;

        @Spec(Spec.Target.MIXEE)
        private CommandSpec program;

        @Option(names = "-c", paramLabel = "TYPE", defaultValue = "r",
                description = "The type of the connection: r for RC, reliable connected (the default); x for XRC,"
                        + " extended reliable connected.")
        private void setType(String type) {
            if (!type.matches("(?i)[rx].*")) {
                throw new ParameterException(program.commandLine(), "Invalid type '" + type
                        + "': r for RC or x for XRC");
            }
            reliable = type.matches("(?i)r.*");
        }

        /** Refuses XRC, with the reason. */
        void requireReliable() throws IOException {
            if (reliable) {
                return;
            }
            for (VerbsContext device : RdmaDevices.list()) {
                if (device.queryDevice().capabilities().contains(DeviceCapability.XRC)) {
                    throw new IOException("the endpoints of this library do not support XRC connections; the device "
                            + device.deviceName() + " does: use XrcDomain and its queue pairs");
                }
            }
            throw new IOException("no RDMA device of this machine supports XRC: use -c r");
        }
    }

    @Override
    protected final void run() throws IOException, InterruptedException {
        print(name() + ": start");
        exchange();
        print(name() + ": end 0");
    }

    /** Sends a message to a server, and waits for its answer if there is one. */
    final void connect(String server, boolean answered) throws IOException, InterruptedException {
        AddressInfo address = AddressInfo.resolve(server, port, AddressInfo.Hints.active(PortSpace.TCP)).getFirst();
        // Resolves address and route, and creates the queue pair with its completion queues.
        try (Arena arena = Arena.ofConfined(); Endpoint endpoint = Endpoint.create(address, ATTRIBUTES, timeout())) {
            MemoryRegion memory = endpoint.registerMessages(arena.allocate(2 * SIZE));
            if (answered) {
                // Before the connection is established, so that the answer finds a receive request.
                endpoint.postReceive(0, memory, SIZE, SIZE);
            }
            endpoint.connect(ConnectionParameters.defaults(), timeout());
            send(endpoint, memory, 0);
            if (answered) {
                // The answer shows whether the message arrived.
                awaitLastSend(endpoint);
                awaitMessage(endpoint);
            } else {
                check(endpoint.getSendCompletion(timeout()));
            }
            endpoint.disconnect(timeout());
        }
    }

    /** Receives the message of one client, and answers it unless it arrives through a shared receive queue. */
    final void serve(String host, boolean shared) throws IOException, InterruptedException {
        AddressInfo address = AddressInfo.resolve(host, port, AddressInfo.Hints.passive(PortSpace.TCP)).getFirst();
        // The attributes are those of the queue pairs of the endpoints that getRequest returns; without them it
        // creates none, as the shared receive queue comes first.
        try (Endpoint listener = Endpoint.create(address, shared ? null : ATTRIBUTES, timeout())) {
            listener.listen(0);
            try (Arena arena = Arena.ofConfined(); Endpoint client = listener.getRequest(FOREVER)) {
                ConnectionParameters parameters = ConnectionParameters.defaults();
                if (shared) {
                    client.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().maxRequests(1).build());
                    client.createQueuePair(ATTRIBUTES);
                    // As in C, the private data hold the number of the shared receive queue, which only XRC uses: 0.
                    parameters = ConnectionParameters.builder().privateData(new byte[Integer.BYTES])
                            .responderResources(0).initiatorDepth(0).retryCount(0).rnrRetryCount(0).build();
                }
                MemoryRegion memory = client.registerMessages(arena.allocate(2 * SIZE));
                // Before the connection is established; to the shared receive queue, if the endpoint has one.
                client.postReceive(0, memory, 0, SIZE);
                client.accept(parameters, timeout());
                awaitMessage(client);
                if (!shared) {
                    send(client, memory, SIZE);
                    awaitLastSend(client);
                }
                client.disconnect(timeout());
            }
        }
    }

    /** Posts a message, inline if the device supports it: the memory could then be reused at once. */
    private void send(Endpoint endpoint, MemoryRegion memory, int offset) throws RdmaException {
        Set<SendFlag> flags = Set.of();
        if (endpoint.queuePair().orElseThrow().capabilities().maxInlineData() >= SIZE) {
            flags = Set.of(SendFlag.INLINE);
        } else {
            print(name() + ": device doesn't support IBV_SEND_INLINE, using sge sends");
        }
        endpoint.postSend(0, memory, offset, SIZE, flags);
    }

    private void awaitMessage(Endpoint endpoint) throws IOException, InterruptedException {
        WorkCompletion completion = endpoint.getReceiveCompletion(timeout());
        check(completion);
        if (completion.byteLength() != SIZE) {
            throw new IOException("a message of " + completion.byteLength() + " bytes arrived, not of " + SIZE);
        }
    }

    /**
     * Waits for a send to a peer that disconnects as soon as it has the message. The end of the connection may be seen
     * before the acknowledgement; the send is flushed then, although the message arrived.
     */
    private void awaitLastSend(Endpoint endpoint) throws IOException, InterruptedException {
        WorkCompletion completion = endpoint.getSendCompletion(timeout());
        if (completion.status() != WorkCompletionStatus.WR_FLUSH_ERR) {
            check(completion);
        }
    }

    private static void check(WorkCompletion completion) throws IOException {
        if (completion.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
            throw new IOException("the peer ended the connection before the message was complete");
        }
        if (completion.status() != WorkCompletionStatus.SUCCESS) {
            throw new WorkCompletionException(completion);
        }
    }
}
