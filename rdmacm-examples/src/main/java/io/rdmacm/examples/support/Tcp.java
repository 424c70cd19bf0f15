// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;

/** TCP connections of the clients that are compared with RDMA. */
public final class Tcp {
    private Tcp() {
    }

    /**
     * Connects.
     *
     * @param server the address of the server
     * @return a connection that sends without delay
     * @throws IOException if it cannot be established
     * @throws InterruptedException if this thread was interrupted
     */
    public static SocketChannel connect(InetSocketAddress server) throws IOException, InterruptedException {
        SocketChannel channel = SocketChannel.open();
        boolean connected = false;
        try {
            channel.connect(server);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            connected = true;
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        } finally {
            if (!connected) {
                channel.close();
            }
        }
        return channel;
    }

    /**
     * Returns what to throw when an interrupt has closed a channel, and clears the interrupt.
     *
     * @param cause what the channel has thrown
     * @return the exception
     */
    public static InterruptedException interrupted(ClosedByInterruptException cause) {
        Thread.interrupted();
        InterruptedException interrupted = new InterruptedException("interrupted on the TCP connection");
        interrupted.initCause(cause);
        return interrupted;
    }
}
