// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;

/** Platform threads use streams while a virtual thread keeps the only carrier. */
public final class BusyCarriers {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static volatile boolean busy = true;

    private BusyCarriers() {
    }

    /** The argument: an address of this machine. Says what has been done, a line each. */
    public static void main(String[] args) throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        Thread.ofVirtual().start(() -> {
            running.countDown();
            while (busy) {
                Thread.onSpinWait();
            }
        });
        running.await();
        try (RdmaStreamServer server = RdmaStreamServer.listen(new InetSocketAddress(args[0], 0))) {
            RdmaStream client = RdmaStream.connect(server.localAddress(), TIMEOUT);
            RdmaStream accepted = server.accept(TIMEOUT);
            System.out.println("connected");
            client.closeAsync().get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            if (accepted.read(ByteBuffer.allocate(1), TIMEOUT) < 0) {
                accepted.close();
                System.out.println("closed");
            }
        }
        System.out.println("server closed");
        busy = false;
    }
}
