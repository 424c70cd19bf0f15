// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;

import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.queue.QueuePairTransitions.Uc;
import io.rdmacm.verbs.queue.QueuePairType;
import picocli.CommandLine.Command;

/**
 * The command {@code ibv_uc_pingpong}, as ibv_uc_pingpong(1): sends messages back and forth over an unreliable
 * connection, which does not retransmit lost messages.
 */
@Command(name = "ibv_uc_pingpong", header = "Ping-pong over an unreliable connection.",
        description = "Sends messages back and forth, and prints how long that took.",
        footer = {"%nFor example, a server, and a client on another machine, with GID 1 of their ports:",
            "  rdmacm ibv_uc_pingpong -g 1 -c", "  rdmacm ibv_uc_pingpong -g 1 -c 192.168.99.1"})
final class IbvUcPingpong extends ConnectedPingPong {
    @Override
    QueuePair create(ProtectionDomain domain, QueuePairInitAttributes.Builder attributes) throws IOException {
        return domain.createQueuePair(attributes.type(QueuePairType.UC).build());
    }

    @Override
    void init(QueuePair pair) throws IOException {
        pair.modify(Uc.resetToInit(devicePort(), 0));
    }

    @Override
    void connect(QueuePair pair, Destination own, Destination peer) throws IOException {
        pair.modify(Uc.initToRtr(pathTo(peer), mtu(), peer.queuePair(), peer.packetNumber()));
        pair.modify(Uc.rtrToRts(own.packetNumber()));
    }
}
