// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

import io.rdmacm.core.stream.RdmaStream;

/** Writes to a server, closes the stream in the background, and ends at once. */
public final class EndsAfterClose {
    /** How many bytes it writes. */
    public static final int BYTES = 60_000;

    private static final Duration TIMEOUT = Duration.ofSeconds(240);

    private EndsAfterClose() {
    }

    /** The arguments: the address and the port of the server, and whether to call System.exit. */
    public static void main(String[] args) throws Exception {
        RdmaStream stream = RdmaStream.connect(new InetSocketAddress(args[0], Integer.parseInt(args[1])), TIMEOUT);
        stream.write(ByteBuffer.allocate(BYTES), TIMEOUT);
        stream.closeAsync();
        if (Boolean.parseBoolean(args[2])) {
            System.exit(0);
        }
    }
}
