// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Lines of text between a test and the role that the other host plays for it, on the wire that is never cut. */
final class Line implements Closeable {
    private static final String FAILED = "failed: ";
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final Socket socket;
    private final BufferedReader input;
    private final OutputStream output;

    Line(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(Math.toIntExact(PATIENCE.toMillis()));
        input = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        output = socket.getOutputStream();
    }

    /** Says one line. */
    void say(Object text) throws IOException {
        output.write((text + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Tells the other side why this one has ended. */
    void fail(Throwable reason) throws IOException {
        say(FAILED + reason.toString().replace('\n', ' '));
    }

    /** The next line; null when the other side has ended or hung up. */
    String hear() throws IOException {
        String line = input.readLine();
        if (line != null && line.startsWith(FAILED)) {
            throw new IOException("the other host has " + line);
        }
        return line;
    }

    /** The next line, a number. */
    long hearNumber() throws IOException {
        String line = hear();
        if (line == null) {
            throw new IOException("the other host has nothing to say any more");
        }
        return Long.parseLong(line);
    }

    /** Waits, however long, until the other side has ended or hung up. */
    void awaitEnd() throws IOException {
        for (;;) {
            try {
                if (hear() == null) {
                    return;
                }
            } catch (SocketTimeoutException e) {
                // It has nothing to say.
                continue;
            }
        }
    }

    /** Hangs up, without waiting for what the other side does then. */
    @Override
    public void close() throws IOException {
        socket.close();
    }
}
