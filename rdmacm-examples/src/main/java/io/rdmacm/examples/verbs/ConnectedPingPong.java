// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;

import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.queue.QueuePairTransitions.Rc;
import io.rdmacm.verbs.queue.RnrTimer;
import picocli.CommandLine.Option;

/** A ping-pong over reliable connections; unreliable ones differ in the way to RTS. */
abstract class ConnectedPingPong extends PingPongProgram {
    // How long the peer waits before it retries a send that found no receive: 0.64 ms.
    private static final RnrTimer RNR_TIMER = RnrTimer.ofCode(12);
    // How long to wait for an acknowledgement: 67 ms.
    private static final AckTimeout TIMEOUT = AckTimeout.ofCode(14);
    // How often to retransmit without an acknowledgement; and without a receive, where 7 means no limit.
    private static final int RETRIES = 7;

    @Option(names = {"-m", "--mtu"}, paramLabel = "BYTES", defaultValue = "1024",
            description = "The path MTU: 256, 512, 1024, 2048 or 4096 (${DEFAULT-VALUE}).")
    private int mtu;

    ConnectedPingPong() {
        super(4096);
    }

    @Override
    void checkOptions() {
        super.checkOptions();
        require(mtu >= 256 && mtu <= 4096 && Integer.bitCount(mtu) == 1, "Invalid MTU " + mtu);
    }

    int mtu() {
        return mtu;
    }

    @Override
    QueuePair create(ProtectionDomain domain, QueuePairInitAttributes.Builder attributes) throws IOException {
        return domain.createQueuePair(attributes.build());
    }

    @Override
    void init(QueuePair pair) throws IOException {
        pair.modify(Rc.resetToInit(devicePort(), 0));
    }

    @Override
    void connect(QueuePair pair, Destination own, Destination peer) throws IOException {
        pair.modify(Rc.initToRtr(pathTo(peer), mtu, peer.queuePair(), peer.packetNumber(), 1, RNR_TIMER));
        pair.modify(Rc.rtrToRts(own.packetNumber(), TIMEOUT, RETRIES, RETRIES, 1));
    }
}
