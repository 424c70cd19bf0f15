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
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.queue.QueuePairTransitions.Ud;
import io.rdmacm.verbs.queue.QueuePairType;
import picocli.CommandLine.Command;

/**
 * The command {@code ibv_ud_pingpong}, as ibv_ud_pingpong(1): sends datagrams back and forth. The queue pair is not
 * connected: each datagram names its destination, and its data follows 40 bytes of header in the receiver's buffer.
 */
@Command(name = "ibv_ud_pingpong", header = "Ping-pong with unreliable datagrams, each at most as long as the MTU.",
        description = "Sends datagrams back and forth, and prints how long that took.",
        footer = {"%nFor example, a server, and a client on another machine, with GID 1 of their ports:",
            "  rdmacm ibv_ud_pingpong -g 1 -c", "  rdmacm ibv_ud_pingpong -g 1 -c 192.168.99.1"})
final class IbvUdPingpong extends PingPongProgram {
    // struct ibv_grh
    private static final int HEADER = 40;
    private static final int QUEUE_KEY = 0x11111111;

    IbvUdPingpong() {
        super(1024);
    }

    @Override
    int header() {
        return HEADER;
    }

    @Override
    void requireSupport(VerbsContext context) throws IOException {
        int mtu = context.queryPort(devicePort).activeMtu();
        if (size > mtu) {
            throw new IOException("Requested size larger than port MTU (" + mtu + ")");
        }
    }

    @Override
    QueuePair create(ProtectionDomain domain, QueuePairInitAttributes.Builder attributes) throws IOException {
        return domain.createQueuePair(attributes.type(QueuePairType.UD).build());
    }

    @Override
    void init(QueuePair pair) throws IOException {
        pair.modify(Ud.resetToInit(devicePort, 0, QUEUE_KEY));
    }

    @Override
    void connect(QueuePair pair, Destination own, Destination peer) throws IOException {
        pair.modify(Ud.initToRtr());
        pair.modify(Ud.rtrToRts(own.packetNumber()));
    }

    @Override
    PingPong.Send sender(List<QueuePair> pairs, List<Destination> peers, MemoryRegion buffer, Resources open)
            throws IOException {
        QueuePair pair = pairs.getFirst();
        AddressHandle address = open.add(pair.protectionDomain().createAddressHandle(pathTo(peers.getFirst())));
        SendRequest send = SendRequests.allocate(1, 1).get(0).id(PingPong.SEND).send()
                .datagram(address, peers.getFirst().queuePair(), QUEUE_KEY).data(buffer, HEADER, size)
                .inline(size <= pair.capabilities().maxInlineData());
        return only -> pair.postSend(send);
    }
}
