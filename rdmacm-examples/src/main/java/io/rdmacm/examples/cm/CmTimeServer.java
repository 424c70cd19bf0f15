// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Resources;

/**
 * The server of cmtime: an event loop that accepts every connection and frees it at its end. The C program needs two
 * more threads, because rdma_destroy_id waits until all events of the id are acknowledged; here each event is closed
 * before its id.
 */
final class CmTimeServer {
    private final CmTime options;
    private final Map<CmId, Resources> connections = new HashMap<>();

    CmTimeServer(CmTime options) {
        this.options = options;
    }

    /** Serves clients until it is interrupted. */
    void run() throws IOException, InterruptedException {
        try (Resources open = new Resources()) {
            EventChannel channel = open.add(EventChannel.open());
            CmId listener = open.add(CmId.open(channel, PortSpace.TCP));
            listener.bindAddress(options.addressToListen().source().orElseThrow());
            listener.listen(0);
            open.onClose(this::closeAll);
            while (true) {
                CmEventType type;
                CmId id;
                try (CmEvent event = channel.getEvent(CmTime.FOREVER)) {
                    type = event.type();
                    id = event.id();
                }
                handle(type, id);
            }
        }
    }

    /** Handles an event. A failure of one connection is printed and does not affect the others. */
    private void handle(CmEventType type, CmId id) {
        try {
            switch (type) {
                case CONNECT_REQUEST -> accept(id);
                case DISCONNECTED -> {
                    id.disconnect();
                    close(id);
                }
                // the client gave up before the connection was established
                case CONNECT_ERROR, UNREACHABLE, REJECTED -> close(id);
                default -> { }
            }
        } catch (IOException e) {
            options.report(e);
        }
    }

    private void accept(CmId id) throws IOException {
        Resources connection = new Resources();
        connection.add(id);
        connections.put(id, connection);
        boolean accepted = false;
        try {
            CmTime.createQueuePair(id, connection.add(id.context().allocateProtectionDomain()), connection);
            id.accept(ConnectionParameters.defaults());
            accepted = true;
        } finally {
            if (!accepted) {
                // rejects the connection
                close(id);
            }
        }
    }

    private void close(CmId id) throws IOException {
        Resources connection = connections.remove(id);
        if (connection != null) {
            connection.close();
        }
    }

    private void closeAll() throws IOException {
        for (Resources connection : connections.values()) {
            connection.close();
        }
    }
}
