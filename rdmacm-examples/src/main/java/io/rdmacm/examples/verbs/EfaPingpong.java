// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.List;

import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.efa.EfaDeviceAttributes;
import io.rdmacm.verbs.efa.EfaQueuePair;
import io.rdmacm.verbs.efa.EfaTransitions;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.SendOperation;
import picocli.CommandLine.Command;

/**
 * The command {@code efa_pingpong}: sends messages back and forth between SRD queue pairs of two EFA devices. SRD is
 * reliable but not connected: each message names its destination, as a datagram does, and is as long as the device
 * allows. EFA has no connection manager, so the addresses are exchanged by TCP, as in the other ping-pongs.
 *
 * <p>Not run on a card: the tests run it over a stand-in for the kernel and the card.
 */
@Command(name = "efa_pingpong", header = "Ping-pong over SRD, the transport of EFA.",
        description = "Sends messages back and forth, and prints how long that took.",
        footer = {"%nFor example, a server, and a client on another machine:",
            "  rdmacm efa_pingpong -c", "  rdmacm efa_pingpong -c 192.168.99.1"})
final class EfaPingpong extends PingPongProgram {
    private static final int QUEUE_KEY = 0x11111111;
    // A port has only one GID, so that no option is needed.
    private static final int GID = 0;

    EfaPingpong() {
        super(4096);
    }

    @Override
    void requireSupport(VerbsContext context) throws IOException {
        try {
            EfaDeviceAttributes.query(context);
        } catch (RdmaUnsupportedException e) {
            throw new IOException("this needs an EFA device, which " + context.deviceName() + " is not", e);
        }
        long longest = context.queryPort(devicePort).maxMessageSize();
        if (size > longest) {
            throw new IOException("Requested size larger than the longest message (" + longest + ")");
        }
    }

    @Override
    QueuePair create(ProtectionDomain domain, QueuePairInitAttributes.Builder attributes) throws IOException {
        return EfaQueuePair.create(domain, attributes.type(QueuePairType.DRIVER)
                .sendOperations(List.of(SendOperation.SEND)).build());
    }

    @Override
    void init(QueuePair pair) throws IOException {
        pair.modify(EfaTransitions.resetToInit(devicePort, 0, QUEUE_KEY));
    }

    @Override
    Destination destination(QueuePair pair) throws IOException {
        return new Destination(0, pair.number(), 0, pair.context().queryGid(devicePort, GID));
    }

    @Override
    void connect(QueuePair pair, Destination own, Destination peer) throws IOException {
        pair.modify(EfaTransitions.initToRtr());
        pair.modify(EfaTransitions.rtrToRts(own.packetNumber()));
    }

    @Override
    PingPong.Send sender(List<QueuePair> pairs, List<Destination> peers, MemoryRegion buffer, Resources open)
            throws IOException {
        QueuePair pair = pairs.getFirst();
        Destination peer = peers.getFirst();
        AddressHandle address = open.add(pair.protectionDomain().createAddressHandle(AddressAttributes.builder()
                .port(devicePort).globalRoute(peer.gid(), GID).build()));
        return only -> {
            try (SendBatch batch = pair.startBatch()) {
                batch.id(PingPong.SEND).send(buffer, 0, size).datagram(address, peer.queuePair(), QUEUE_KEY);
                batch.complete();
            }
        };
    }
}
