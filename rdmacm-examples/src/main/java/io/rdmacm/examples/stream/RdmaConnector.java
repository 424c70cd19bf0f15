// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.examples.support.PeerTimeout;

/** Makes streams over RDMA. */
final class RdmaConnector implements StreamConnector {
    private final StreamOptions options;
    private final StreamSettings settings;
    private final TransferMode mode;
    // null for a client
    private final RdmaStreamServer server;

    /**
     * Prepares to connect; a server listens.
     *
     * @param options the options of the program
     * @param settings the settings of the streams
     * @param mode how data are transferred
     */
    RdmaConnector(StreamOptions options, StreamSettings settings, TransferMode mode) throws IOException {
        this.options = options;
        this.settings = settings;
        this.mode = mode;
        this.server = options.isServer() ? RdmaStreamServer.listen(options.local(), 1, settings) : null;
    }

    /** Makes a stream. The inline size is for clients: a server has chosen it when it started to listen. */
    RdmaStream stream(int inlineSize) throws IOException, InterruptedException {
        if (server != null) {
            return server.accept(PeerTimeout.FOREVER);
        }
        RdmaStream stream = RdmaStream.open(settings.toBuilder().inlineSize(inlineSize).build());
        boolean connected = false;
        try {
            if (options.local() != null) {
                stream.bind(options.local());
            }
            stream.startConnect(options.peer());
            stream.finishConnect(options.timeout());
            connected = true;
            return stream;
        } finally {
            if (!connected) {
                stream.close();
            }
        }
    }

    @Override
    public StreamEnd next(int inlineSize) throws IOException, InterruptedException {
        return new RdmaEnd(stream(inlineSize), mode, options.timeout());
    }

    @Override
    public void close() throws IOException {
        if (server != null) {
            server.close();
        }
    }
}
