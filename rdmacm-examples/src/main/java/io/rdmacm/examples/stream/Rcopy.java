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
import java.util.Locale;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.examples.support.PeerProgram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command {@code rcopy}, as rcopy(1): copies a file to a server. This class is the client: it names the file, sends
 * its data, and closes it. {@link RcopyServer} is the other role, {@link CopyMessage} is what they say.
 */
@Command(name = "rcopy", header = "Copies a file over RDMA.",
        description = "Without a source, a server, which writes the files that clients send to wherever they say, as"
                + " the user who runs it: do not run it where others can reach it.%nWith a source, a client that sends"
                + " this file.",
        footer = {"%nFor example, a server, and a client:",
            "  rdmacm rcopy", "  rdmacm rcopy data.bin 192.168.99.1:/tmp/data.bin"})
final class Rcopy extends PeerProgram {
    /** How much of the file is sent and received at a time. */
    static final int PIECE = 1 << 20;

    @Parameters(index = "0", arity = "0..1", paramLabel = "SOURCE", description = "The file to copy.")
    private Path source;

    @Parameters(index = "1", arity = "0..1", paramLabel = "SERVER[:DESTINATION]",
            description = "The server, and the name of the file there: the same as here if it is not given. An IPv6"
                    + " address stands in brackets.")
    private String target;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7427", description = "The port (${DEFAULT-VALUE}).")
    private int port;

    @Override
    protected void run() throws IOException, InterruptedException {
        requirePort(port, source != null);
        if (source == null) {
            new RcopyServer(new InetSocketAddress(port), this).run();
            return;
        }
        require(target != null, "the server is missing: SERVER[:DESTINATION]");
        int colon = target.indexOf(':', Math.max(0, target.startsWith("[") ? target.indexOf(']') : 0));
        String host = colon < 0 ? target : target.substring(0, colon);
        String destination = colon < 0 ? source.toString() : target.substring(colon + 1);
        require(!destination.isEmpty(), "the name of the destination is empty");
        InetSocketAddress server = new InetSocketAddress(host, port);
        require(!server.isUnresolved(), "there is no host or IP address '" + host + "'");
        copy(server, destination);
    }

    private void copy(InetSocketAddress server, String destination) throws IOException, InterruptedException {
        byte[] name = destination.getBytes(StandardCharsets.UTF_8);
        // with at least one zero at the end
        int padded = (name.length + Long.BYTES) / Long.BYTES * Long.BYTES;
        require(padded <= CopyMessage.LONGEST - CopyMessage.BYTES, "the name of the destination is too long");
        try (FileChannel file = FileChannel.open(source, StandardOpenOption.READ);
                RdmaStream stream = RdmaStream.connect(server, timeout())) {
            long bytes = file.size();
            part("opening...");
            int mode = (int) Files.getAttribute(source, "unix:mode");
            stream.write(CopyMessage.request(CopyMessage.OPEN, mode, padded).put(name).clear(), timeout());
            awaitResponse(stream, CopyMessage.OPEN, "open " + destination);
            part("transferring...");
            long start = System.nanoTime();
            stream.write(CopyMessage.request(CopyMessage.WRITE, 0, Long.BYTES).putLong(bytes).clear(), timeout());
            send(stream, file, bytes);
            awaitResponse(stream, CopyMessage.WRITE, "write " + destination);
            double seconds = (System.nanoTime() - start) / 1e9;
            part("closing...");
            stream.write(CopyMessage.request(CopyMessage.CLOSE, 0, 0).clear(), timeout());
            awaitResponse(stream, CopyMessage.CLOSE, "close " + destination);
            print("done");
            print(String.format(Locale.ROOT, "%d bytes in %.2f seconds = %.2f Gb/sec", bytes, seconds,
                    bytes * 8 / 1e9 / seconds));
        }
    }

    private void send(RdmaStream stream, FileChannel file, long bytes) throws IOException, InterruptedException {
        ByteBuffer piece = CopyMessage.buffer(PIECE);
        for (long left = bytes; left > 0; left -= piece.limit()) {
            piece.clear().limit((int) Math.min(left, PIECE));
            if (file.read(piece) < 0) {
                throw new EOFException("the file has become shorter");
            }
            stream.write(piece.flip(), timeout());
        }
    }

    private void awaitResponse(RdmaStream stream, int command, String what) throws IOException, InterruptedException {
        CopyMessage response = CopyMessage.receive(stream, timeout());
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
