// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;

import io.rdmacm.core.DisconnectedException;
import org.jspecify.annotations.Nullable;

/** The failures of channels as sockets without channels have them. */
final class PlainFailures {
    private static final int END = -1;

    private PlainFailures() {
    }

    /** Something that a channel does. */
    interface Call<T extends @Nullable Object> {
        T run() throws IOException;
    }

    /**
     * Returns what a socket throws for a failure of its channel.
     *
     * @param closed whether the channel is closed
     */
    static IOException of(IOException failure, boolean closed) {
        if (failure instanceof SocketException || failure instanceof InterruptedIOException) {
            return failure;
        }
        if (failure instanceof ClosedByInterruptException && Thread.currentThread().isVirtual()) {
            // The socket around it closes itself when it is told so.
            return new InterruptedIOException("Closed by interrupt");
        }
        // A channel that is open has only ended its output, or its peer has closed the connection.
        boolean ended = failure instanceof ClosedChannelException || failure instanceof DisconnectedException;
        return new SocketException(closed ? "Socket closed" : ended ? "Broken pipe" : failure.getMessage(), failure);
    }

    /** Does something with the channel of a socket. */
    static <T extends @Nullable Object> T as(Socket view, Call<T> call) throws IOException {
        try {
            return call.run();
        } catch (IOException e) {
            throw of(e, view.isClosed());
        }
    }

    /** The input of a socket over RDMA. */
    static final class Input extends InputStream {
        private final Socket view;
        private final InputStream in;
        private volatile boolean ended;

        Input(Socket view) throws IOException {
            this.view = view;
            this.in = view.getInputStream();
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? END : Byte.toUnsignedInt(one[0]);
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (ended && length > 0) {
                // Of a socket that was closed since, too.
                return END;
            }
            int read = as(view, () -> in.read(bytes, offset, length));
            if (read < 0) {
                ended = true;
            }
            return read;
        }

        @Override
        public int available() throws IOException {
            return as(view, in::available);
        }
    }

    /** The output of a socket over RDMA. */
    static final class Output extends OutputStream {
        private final Socket view;
        private final OutputStream out;

        Output(Socket view) throws IOException {
            this.view = view;
            this.out = view.getOutputStream();
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value});
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            as(view, () -> {
                out.write(bytes, offset, length);
                return null;
            });
        }
    }
}
