// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.util.Set;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.PeerProgram;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import picocli.CommandLine.Option;

/**
 * What the programs with the synchronous calls have in common: a port, and messages of 16 bytes, all zero as in C, of
 * which each side sends at most one.
 */
abstract class SynchronousProgram extends PeerProgram {
    static final int SIZE = 16;
    /** One request per queue; every send is signaled. */
    static final EndpointAttributes ATTRIBUTES = EndpointAttributes.builder().maxSendRequests(1).maxReceiveRequests(1)
            .maxInlineData(SIZE).signalAll(true).build();

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            description = "The server's port (${DEFAULT-VALUE}).")
    private String port;

    /** Exchanges messages with the peer. */
    abstract void exchange() throws IOException, InterruptedException;

    @Override
    protected final void run() throws IOException, InterruptedException {
        print(name() + ": start");
        exchange();
        print(name() + ": end 0");
    }

    /** Resolves the address of a server, or one to listen on. */
    AddressInfo address(String host, boolean passive) throws RdmaException {
        return AddressInfo.resolve(host, port, passive ? AddressInfo.Hints.passive(PortSpace.TCP)
                : AddressInfo.Hints.active(PortSpace.TCP)).getFirst();
    }

    /** Posts a message, inline if the device supports it: the memory could then be reused at once. */
    void send(Endpoint endpoint, MemoryRegion memory, int offset) throws RdmaException {
        Set<SendFlag> flags = Set.of();
        if (endpoint.queuePair().orElseThrow().capabilities().maxInlineData() >= SIZE) {
            flags = Set.of(SendFlag.INLINE);
        } else {
            print(name() + ": device doesn't support IBV_SEND_INLINE, using sge sends");
        }
        endpoint.postSend(0, memory, offset, SIZE, flags);
    }

    void awaitMessage(Endpoint endpoint) throws IOException, InterruptedException {
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
    void awaitLastSend(Endpoint endpoint) throws IOException, InterruptedException {
        WorkCompletion completion = endpoint.getSendCompletion(timeout());
        if (completion.status() != WorkCompletionStatus.WR_FLUSH_ERR) {
            check(completion);
        }
    }

    static void check(WorkCompletion completion) throws IOException {
        if (completion.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
            throw new IOException("the peer ended the connection before the message was complete");
        }
        if (completion.status() != WorkCompletionStatus.SUCCESS) {
            throw new WorkCompletionException(completion);
        }
    }
}
