// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.RejectReason;
import io.rdmacm.core.RejectedException;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.AccessFlag;

/** The client of rping: connects, and sends pings. */
final class RpingClient {
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration PAUSE = Duration.ofMillis(100);

    private final Rping options;

    RpingClient(Rping options) {
        this.options = options;
    }

    /** Connects, and returns when all pings have come back. */
    void run() throws IOException, InterruptedException {
        long start = System.nanoTime();
        while (true) {
            try {
                connectAndPing();
                return;
            } catch (RejectedException e) {
                // An id whose connection was rejected cannot connect again.
                boolean late = System.nanoTime() - start >= options.patience().toNanos();
                if (late || e.reason() != RejectReason.INVALID_SERVICE_ID) {
                    throw e;
                }
                options.debug("no server listens yet");
                Thread.sleep(PAUSE);
            }
        }
    }

    private void connectAndPing() throws IOException, InterruptedException {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.resolveAddress(options.source(), options.address(), RESOLVE_TIMEOUT);
            channel.await(id, CmEventType.ADDR_RESOLVED, RpingConnection.TIMEOUT).close();
            options.debug("address resolved: it is reached through %s", id.context().deviceName());
            id.resolveRoute(RESOLVE_TIMEOUT);
            channel.await(id, CmEventType.ROUTE_RESOLVED, RpingConnection.TIMEOUT).close();
            options.debug("route resolved");
            try (RpingConnection connection = new RpingConnection(id, "client", options)) {
                connection.connect();
                sendPings(connection);
            }
        }
    }

    private void sendPings(RpingConnection connection) throws IOException, InterruptedException {
        try (MemoryRegion source = connection.allocate(options.size, AccessFlag.REMOTE_READ)) {
            MemoryRegion sink = connection.buffer();
            for (int ping = 0; !options.isEnough(ping); ping++) {
                PingData.fill(source.memory(), ping);
                connection.offer(source);
                // now the server has read it
                connection.receive();
                connection.offer(sink);
                // now the server has written it back
                connection.receive();
                if (options.verify && source.memory().mismatch(sink.memory()) >= 0) {
                    throw new IOException("data mismatch! Ping " + ping + " came back different at byte "
                            + source.memory().mismatch(sink.memory()));
                }
                if (options.verbose) {
                    options.print("ping data: " + PingData.show(PingData.text(sink.memory())));
                }
            }
        }
    }
}
