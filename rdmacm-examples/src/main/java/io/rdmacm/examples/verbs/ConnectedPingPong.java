// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.Set;

import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.device.DeviceAttributesEx.OnDemandPaging;
import io.rdmacm.verbs.device.OdpCapability;
import io.rdmacm.verbs.queue.QueuePairTransitions.Rc;
import io.rdmacm.verbs.queue.QueuePairTransitions.Uc;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RnrTimer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A ping-pong over a connection: {@link IbvRcPingpong}, {@link IbvSrqPingpong} and {@link Unreliable}. */
abstract class ConnectedPingPong extends PingPongProgram {
    // How long the peer waits before it retries a send that found no receive: 0.64 ms.
    private static final RnrTimer RNR_TIMER = RnrTimer.ofCode(12);
    // How long to wait for an acknowledgement: 67 ms.
    private static final AckTimeout TIMEOUT = AckTimeout.ofCode(14);
    // How often to retransmit without an acknowledgement; and without a receive, where 7 means no limit.
    private static final int RETRIES = 7;

    @Option(names = {"-m", "--mtu"}, paramLabel = "BYTES", defaultValue = "1024",
            description = "The path MTU: 256, 512, 1024, 2048 or 4096 (${DEFAULT-VALUE}).")
    int mtu;

    ConnectedPingPong() {
        super(4096);
    }

    @Override
    void checkOptions() {
        super.checkOptions();
        require(mtu >= 256 && mtu <= 4096 && Integer.bitCount(mtu) == 1, "Invalid MTU " + mtu);
    }

    @Override
    void init(QueuePair pair) throws IOException {
        pair.modify(Rc.resetToInit(devicePort, 0));
    }

    @Override
    void connect(QueuePair pair, Destination own, Destination peer) throws IOException {
        pair.modify(Rc.initToRtr(pathTo(peer), mtu, peer.queuePair(), peer.packetNumber(), 1, RNR_TIMER));
        pair.modify(Rc.rtrToRts(own.packetNumber(), TIMEOUT, RETRIES, RETRIES, 1));
    }

    /** Refuses on-demand paging for the buffer, unless the device can do this with it. */
    static void requirePaging(VerbsContext context, Set<OdpCapability> needed, String what) throws IOException {
        OnDemandPaging capabilities = context.queryDeviceEx().onDemandPaging();
        if (!capabilities.supported() || !capabilities.rc().containsAll(needed)) {
            throw new IOException("The device isn't ODP capable or does not support RC " + what + " with ODP");
        }
    }

    /**
     * The command {@code ibv_uc_pingpong}, as ibv_uc_pingpong(1): an unreliable connection does not retransmit lost
     * messages, and differs in the way to RTS.
     */
    @Command(name = "ibv_uc_pingpong", header = "Ping-pong over an unreliable connection.",
            description = "Sends messages back and forth, and prints how long that took.",
            footer = {"%nFor example, a server, and a client on another machine, with GID 1 of their ports:",
                "  rdmacm ibv_uc_pingpong -g 1 -c", "  rdmacm ibv_uc_pingpong -g 1 -c 192.168.99.1"})
    static final class Unreliable extends ConnectedPingPong {
        @Override
        QueuePair create(ProtectionDomain domain, QueuePairInitAttributes.Builder attributes) throws IOException {
            return super.create(domain, attributes.type(QueuePairType.UC));
        }

        @Override
        void init(QueuePair pair) throws IOException {
            pair.modify(Uc.resetToInit(devicePort, 0));
        }

        @Override
        void connect(QueuePair pair, Destination own, Destination peer) throws IOException {
            pair.modify(Uc.initToRtr(pathTo(peer), mtu, peer.queuePair(), peer.packetNumber()));
            pair.modify(Uc.rtrToRts(own.packetNumber()));
        }
    }
}
