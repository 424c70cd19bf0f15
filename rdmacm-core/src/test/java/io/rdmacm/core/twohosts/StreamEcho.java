// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;

/**
 * Accepts one stream and sends back what arrives. The argument is the interval of its keep-alive in milliseconds, 0 for
 * none. It says its port, and at the end "ended" or the class of the exception.
 */
final class StreamEcho implements Role {
    private static final int PIECE = 1 << 16;

    /** The settings of both sides: without an acknowledgement, 6 retries of 0.5 s. */
    static StreamSettings settings(Duration keepAlive) {
        return StreamSettings.builder().retries(6).ackTimeout(Client.PATIENT).keepAlive(keepAlive)
                .linger(Duration.ZERO).build();
    }

    @Override
    public void play(Line line, String... arguments) throws Exception {
        StreamSettings settings = settings(Duration.ofMillis(Integer.parseInt(arguments[0])));
        try (RdmaStreamServer server = RdmaStreamServer.listen(OtherHost.here(), 1, settings)) {
            line.say(server.localAddress().getPort());
            try (RdmaStream stream = server.accept(Server.TIMEOUT)) {
                line.say(echo(stream));
            }
        }
    }

    private static String echo(RdmaStream stream) throws InterruptedException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE);
        try {
            while (stream.read(buffer.clear(), Server.TIMEOUT) >= 0) {
                stream.write(buffer.flip(), Server.TIMEOUT);
            }
            return "ended";
        } catch (IOException e) {
            return e.getClass().getSimpleName();
        }
    }
}
