// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.queue.RnrTimer;
import picocli.CommandLine.Option;

/** The options of the ping-pongs over connections, whose messages can be longer than a packet. */
class ConnectedOptions extends PingPongOptions {
    /** How long the peer waits before it retries a send that found no receive: 0.64 ms. */
    static final RnrTimer RNR_TIMER = RnrTimer.ofCode(12);
    /** How long to wait for an acknowledgement: 67 ms. */
    static final AckTimeout TIMEOUT = AckTimeout.ofCode(14);
    /** How often to retransmit without an acknowledgement; and without a receive, where 7 means no limit. */
    static final int RETRIES = 7;

    @Option(names = {"-s", "--size"}, paramLabel = "BYTES", defaultValue = "4096",
            description = "The length of a message (${DEFAULT-VALUE}).")
    private int size;

    @Option(names = {"-m", "--mtu"}, paramLabel = "BYTES", defaultValue = "1024",
            description = "The path MTU: 256, 512, 1024, 2048 or 4096 (${DEFAULT-VALUE}).")
    private int mtu;

    @Override
    void check() {
        super.check();
        require(size >= 1, "Invalid size " + size);
        require(mtu >= 256 && mtu <= 4096 && Integer.bitCount(mtu) == 1, "Invalid MTU " + mtu);
    }

    int size() {
        return size;
    }

    int mtu() {
        return mtu;
    }
}
