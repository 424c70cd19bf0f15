// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;

import io.rdmacm.core.stream.RdmaStream;

/** The client of rcopy: names the file, sends its data, and closes it. */
final class RcopyClient {
    private static final int PIECE = 1 << 20;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double BITS_PER_GIGABIT = 1e9;

    private final InetSocketAddress server;
    private final Duration timeout;
    private final Rcopy program;

    RcopyClient(InetSocketAddress server, Rcopy program) {
        this.server = server;
        this.timeout = program.timeout();
        this.program = program;
    }

    void run(Path source, String destination) throws IOException, InterruptedException {
        try (FileChannel file = FileChannel.open(source, StandardOpenOption.READ);
                RdmaStream stream = RdmaStream.connect(server, timeout)) {
            long bytes = file.size();
            program.part("opening...");
            open(stream, (int) Files.getAttribute(source, "unix:mode"), destination);
            program.part("transferring");
            announce(stream, bytes);
            program.part("...");
            long start = System.nanoTime();
            send(stream, file, bytes);
            awaitResponse(stream, CopyMessage.WRITE, "write " + destination);
            long nanos = System.nanoTime() - start;
            program.part("closing...");
            send(stream, new CopyMessage(CopyMessage.CLOSE, CopyMessage.BYTES, 0, 0).put(
                    CopyMessage.buffer(CopyMessage.BYTES)));
            awaitResponse(stream, CopyMessage.CLOSE, "close " + destination);
            program.print("done");
            program.print(String.format(Locale.ROOT, "%d bytes in %.2f seconds = %.2f Gb/sec", bytes,
                    nanos / NANOS_PER_SECOND, bytes * 8 / BITS_PER_GIGABIT / (nanos / NANOS_PER_SECOND)));
        }
    }

    private void open(RdmaStream stream, int mode, String destination) throws IOException, InterruptedException {
        byte[] name = destination.getBytes(StandardCharsets.UTF_8);
        // with at least one zero at the end
        int padded = (name.length + Long.BYTES) / Long.BYTES * Long.BYTES;
        int length = CopyMessage.BYTES + padded;
        if (length > CopyMessage.LONGEST) {
            throw new IOException("the name of the destination is too long");
        }
        ByteBuffer message = new CopyMessage(CopyMessage.OPEN, length, mode, 0).put(CopyMessage.buffer(length));
        send(stream, message.put(name).position(length));
        awaitResponse(stream, CopyMessage.OPEN, "open " + destination);
    }

    private void announce(RdmaStream stream, long bytes) throws IOException, InterruptedException {
        send(stream, new CopyMessage(CopyMessage.WRITE, CopyMessage.WRITE_BYTES, 0, 0)
                .put(CopyMessage.buffer(CopyMessage.WRITE_BYTES)).putLong(bytes));
    }

    private void send(RdmaStream stream, FileChannel file, long bytes) throws IOException, InterruptedException {
        ByteBuffer piece = CopyMessage.buffer(PIECE);
        for (long left = bytes; left > 0; left -= piece.limit()) {
            piece.clear().limit((int) Math.min(left, PIECE));
            if (file.read(piece) < 0) {
                throw new EOFException("the file has become shorter");
            }
            stream.write(piece.flip(), timeout);
        }
    }

    private void send(RdmaStream stream, ByteBuffer message) throws IOException, InterruptedException {
        stream.write(message.flip(), timeout);
    }

    private void awaitResponse(RdmaStream stream, int command, String what) throws IOException, InterruptedException {
        CopyMessage response = CopyMessage.receive(stream, timeout);
        if (response == null) {
            throw new EOFException("the server has closed the stream");
        }
        if (response.length() != CopyMessage.BYTES || response.command() != (command | CopyMessage.RESPONSE)) {
            throw new IOException("invalid length " + response.length() + " or bad command response "
                    + Integer.toHexString(response.command()));
        }
        if (response.data() != 0) {
            throw new IOException("the server could not " + what + ": error " + response.data());
        }
    }
}
