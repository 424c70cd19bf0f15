// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;

import io.rdmacm.bench.device.machine.Port;

/** The addresses that the ends of streams tell each other. */
public final class HostAndPort {
    private HostAndPort() {
    }

    /** {@return the address of the device, with any free port} */
    static InetSocketAddress any() throws IOException {
        return new InetSocketAddress(Port.find().requireAddress(), 0);
    }

    /**
     * {@return what {@link #decode} reads}
     *
     * @param address where a server listens; null for a client, to which nobody connects
     */
    static byte[] encode(SocketAddress address) {
        return address instanceof InetSocketAddress here
                ? (here.getAddress().getHostAddress() + " " + here.getPort()).getBytes(StandardCharsets.US_ASCII)
                : new byte[1];
    }

    static InetSocketAddress decode(byte[] encoded) {
        String[] words = new String(encoded, StandardCharsets.US_ASCII).split(" ");
        return new InetSocketAddress(words[0], Integer.parseInt(words[1]));
    }
}
