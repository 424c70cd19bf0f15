// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;

import io.rdmacm.bench.device.measure.MessageEnd;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;

/** One end of an {@link RdmaStream}. */
public final class StreamMessageEnd implements MessageEnd {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final StreamSettings settings;
    private final ByteBuffer buffer;
    // null for a client
    private final RdmaStreamServer server;
    private RdmaStream stream;

    /**
     * Creates an end.
     *
     * @param settings of the stream
     * @param client whether this is the end that connects
     * @param size the size of the largest message
     */
    StreamMessageEnd(StreamSettings settings, boolean client, int size) throws IOException {
        this.settings = settings;
        this.buffer = ByteBuffer.allocateDirect(size);
        this.server = client ? null : RdmaStreamServer.listen(HostAndPort.any(), 1, settings);
    }

    @Override
    public byte[] address() {
        return HostAndPort.encode(server == null ? null : server.localAddress());
    }

    @Override
    public void connect(byte[] peer) throws IOException {
        try {
            if (server == null) {
                stream = RdmaStream.connect(HostAndPort.decode(peer), settings, LIMIT);
            } else {
                stream = server.accept(LIMIT);
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    @Override
    public void send(int count, int bytes) throws IOException {
        try {
            for (int i = 0; i < count; i++) {
                stream.write(buffer.clear().limit(bytes), LIMIT);
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    @Override
    public void receive(int count, int bytes) throws IOException {
        try {
            for (int i = 0; i < count; i++) {
                buffer.clear().limit(bytes);
                while (buffer.hasRemaining()) {
                    if (stream.read(buffer, LIMIT) < 0) {
                        throw new EOFException("the peer has closed the stream");
                    }
                }
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static IOException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        IOException failure = new InterruptedIOException("interrupted");
        failure.initCause(cause);
        return failure;
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
