// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.queue.RnrTimer;
import picocli.CommandLine.Option;

/** The options of ping-pongs over connections: their messages can be longer than a packet. */
class ConnectedOptions extends PingPongOptions {
    /** How long a peer waits that has found no receive here: 0.64 milliseconds. */
    static final RnrTimer RNR_TIMER = RnrTimer.ofCode(12);
    /** How long an acknowledgement may take: 67 milliseconds. */
    static final AckTimeout TIMEOUT = AckTimeout.ofCode(14);
    /** How often a message is sent again that nobody acknowledged; of one that found no receive, 7 is for ever. */
    static final int RETRIES = 7;

    @Option(names = {"-s", "--size"}, paramLabel = "BYTES", defaultValue = "4096",
            description = "How long a message is (${DEFAULT-VALUE}).")
    private int size;

    @Option(names = {"-m", "--mtu"}, paramLabel = "BYTES", defaultValue = "1024",
            description = "How much of it goes into a packet: 256, 512, 1024, 2048 or 4096 (${DEFAULT-VALUE}).")
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
