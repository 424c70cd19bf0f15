// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** A server of streams on the device under test, and pairs of streams, all in this JVM. */
public final class Streams implements AutoCloseable {
    /** Long enough for the slowest machine. Tests reach it only if they fail. */
    public static final Duration TIMEOUT = Duration.ofMinutes(4);

    public final RdmaStreamServer server;

    /** Listens with the default settings. */
    public Streams() throws RdmaException {
        this(StreamSettings.defaults());
    }

    /** Listens with settings. */
    public Streams(StreamSettings settings) throws RdmaException {
        server = RdmaStreamServer.listen(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0), 128, settings);
    }

    /** Opens what is opened once and kept, because a virtual thread waits. */
    public static void warmUp() throws Exception {
        try (Streams streams = new Streams(); Background<RdmaStream> accepting = Background.virtual(
                () -> streams.server.accept(TIMEOUT)); RdmaStream client = RdmaStream.connect(
                        streams.server.localAddress(), TIMEOUT); RdmaStream server = accepting.result();
                Background<Integer> reading = Background.virtual(
                        () -> server.read(ByteBuffer.allocate(1), TIMEOUT))) {
            reading.awaitAsleep();
            client.shutdownOutput();
            reading.result();
        }
    }

    /** Connects a client with the default settings. */
    public Pair connect() throws Exception {
        return connect(StreamSettings.defaults());
    }

    /** Connects a client. */
    public Pair connect(StreamSettings settings) throws Exception {
        RdmaStream client = RdmaStream.connect(server.localAddress(), settings, TIMEOUT);
        return new Pair(server.accept(TIMEOUT), client);
    }

    /** The two ends of a connection. */
    public record Pair(RdmaStream server, RdmaStream client) implements AutoCloseable {
        @Override
        public void close() throws RdmaException {
            client.close();
            server.close();
        }
    }

    /** Random bytes, the same for the same seed. */
    public static byte[] data(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** Reads exactly as many bytes. */
    public static byte[] read(RdmaStream stream, int length) throws Exception {
        ByteBuffer target = ByteBuffer.allocate(length);
        while (target.hasRemaining()) {
            if (stream.read(target, TIMEOUT) < 0) {
                throw new IllegalStateException("the stream ended after " + target.position() + " bytes");
            }
        }
        return target.array();
    }

    @Override
    public void close() throws RdmaException {
        server.close();
    }
}
