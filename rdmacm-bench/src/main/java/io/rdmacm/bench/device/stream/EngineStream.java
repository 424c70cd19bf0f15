// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.io.Serializable;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;

/** One end of an {@link RdmaStream}. */
final class EngineStream extends BlockingStream {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final StreamSettings settings;
    // null for a client
    private final RdmaStreamServer server;
    private RdmaStream stream;

    EngineStream(StreamSettings settings, Load load, boolean client, boolean roundTrips) throws IOException {
        super(load, client, roundTrips);
        this.settings = settings;
        this.server = client ? null : RdmaStreamServer.listen(Port.anyPort(), 1, settings);
    }

    @Override
    public Serializable address() {
        return client ? null : server.localAddress();
    }

    @Override
    public void connect(Serializable peer) throws IOException, InterruptedException {
        stream = client ? RdmaStream.connect((InetSocketAddress) peer, settings, LIMIT) : server.accept(LIMIT);
    }

    @Override
    void write(ByteBuffer source) throws IOException, InterruptedException {
        stream.write(source, LIMIT);
    }

    @Override
    int read(ByteBuffer target) throws IOException, InterruptedException {
        return stream.read(target, LIMIT);
    }

    @Override
    public void close() throws IOException {
        if (stream != null) {
            stream.close();
        }
        if (server != null) {
            server.close();
        }
    }
}
