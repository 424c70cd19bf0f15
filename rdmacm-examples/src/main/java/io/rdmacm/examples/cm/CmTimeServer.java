// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Resources;

/** The server of cmtime: accepts every connection, and serves each in a virtual thread until its end. */
final class CmTimeServer {
    private final CmTime options;

    CmTimeServer(CmTime options) {
        this.options = options;
    }

    /** Serves clients until it is interrupted. */
    void run() throws IOException, InterruptedException {
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, PortSpace.TCP);
                ExecutorService connections = Executors.newVirtualThreadPerTaskExecutor()) {
            listener.bindAddress(options.addressToListen().source().orElseThrow());
            listener.listen(0);
            try {
                while (true) {
                    CmId id = nextClient(channel, listener);
                    connections.execute(() -> serve(channel, id));
                }
            } finally {
                connections.shutdownNow();
            }
        }
    }

    private static CmId nextClient(EventChannel channel, CmId listener) throws IOException, InterruptedException {
        try (CmEvent request = channel.await(listener, CmEventType.CONNECT_REQUEST, CmTime.FOREVER)) {
            return request.id();
        }
    }

    /** Serves one connection. Its failure is printed and does not affect the others. */
    private void serve(EventChannel channel, CmId id) {
        try (Resources open = new Resources()) {
            open.add(id);
            CmTime.createQueuePair(id, open.add(id.context().allocateProtectionDomain()), open);
            id.accept(ConnectionParameters.defaults());
            channel.await(id, CmEventType.ESTABLISHED, CmTime.FOREVER).close();
            channel.await(id, CmEventType.DISCONNECTED, CmTime.FOREVER).close();
            id.disconnect();
        } catch (IOException | RuntimeException e) {
            options.report(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
