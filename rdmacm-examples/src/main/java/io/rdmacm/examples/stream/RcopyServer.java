// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;

/** The server of rcopy: serves one client after the other, each of which can send files. */
final class RcopyServer {
    // errors of C
    private static final int NO_ENTRY = 2;
    private static final int IO_ERROR = 5;
    private static final int NO_ACCESS = 13;
    private static final int BUSY = 16;
    private static final int INVALID = 22;

    private final InetSocketAddress address;
    private final Duration timeout;
    private final Rcopy program;
    private final ByteBuffer piece = CopyMessage.buffer(Rcopy.PIECE);

    RcopyServer(InetSocketAddress address, Rcopy program) {
        this.address = address;
        this.timeout = program.timeout();
        this.program = program;
    }

    /** Serves clients until the thread is interrupted. */
    void run() throws IOException, InterruptedException {
        StreamSettings settings = StreamSettings.builder().reuseAddress(true).build();
        try (RdmaStreamServer server = RdmaStreamServer.listen(address, 1, settings)) {
            while (true) {
                program.part("waiting for connection...");
                try (RdmaStream stream = server.accept(Rcopy.FOREVER); Session session = new Session(stream)) {
                    program.print("client: " + stream.peerAddress().getAddress().getHostAddress());
                    session.run();
                } catch (IOException e) {
                    program.report(e);
                }
            }
        }
    }

    /** One client. */
    private final class Session implements AutoCloseable {
        private final RdmaStream stream;
        // null if there is no open file
        private FileChannel file;

        Session(RdmaStream stream) {
            this.stream = stream;
        }

        void run() throws IOException, InterruptedException {
            int status = 0;
            while (status == 0) {
                CopyMessage message = CopyMessage.receive(stream, timeout);
                if (message == null) {
                    return;
                }
                status = switch (message.command()) {
                    case CopyMessage.OPEN -> open(message);
                    case CopyMessage.WRITE -> write(message);
                    case CopyMessage.CLOSE -> closeFile();
                    default -> INVALID;
                };
                message.respond(stream, status, timeout);
                if (message.command() == CopyMessage.CLOSE) {
                    program.print("done");
                }
            }
        }

        private int open(CopyMessage message) throws IOException, InterruptedException {
            program.part("opening: ");
            ByteBuffer name = CopyMessage.buffer(message.length() - CopyMessage.BYTES);
            CopyMessage.receive(stream, name, timeout);
            String path = text(name.flip());
            program.part(path + ", ");
            if (file != null) {
                program.print("cannot open another file");
                return BUSY;
            }
            try {
                file = FileChannel.open(Path.of(path), Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE,
                        StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING), mode(message.data()));
                return 0;
            } catch (IOException | InvalidPathException e) {
                program.print("unable to open destination file");
                return e instanceof NoSuchFileException || e instanceof InvalidPathException ? NO_ENTRY
                        : e instanceof AccessDeniedException ? NO_ACCESS : IO_ERROR;
            }
        }

        private int write(CopyMessage message) throws IOException, InterruptedException {
            program.part("transferring");
            if (file == null) {
                program.print("...file not opened");
                return INVALID;
            }
            if (message.length() != CopyMessage.WRITE_BYTES) {
                program.print("...invalid message length " + message.length());
                return INVALID;
            }
            CopyMessage.receive(stream, piece.clear().limit(Long.BYTES), timeout);
            long bytes = piece.flip().getLong();
            program.part("..." + bytes + " bytes...");
            for (long left = bytes; left > 0; left -= piece.limit()) {
                CopyMessage.receive(stream, piece.clear().limit((int) Math.min(left, Rcopy.PIECE)), timeout);
                piece.flip();
                while (piece.hasRemaining()) {
                    file.write(piece);
                }
            }
            return 0;
        }

        private int closeFile() throws IOException {
            program.part("closing...");
            close();
            return 0;
        }

        /** Closes the file. */
        @Override
        public void close() throws IOException {
            if (file != null) {
                file.close();
                file = null;
            }
        }
    }

    /** Returns the text before the first zero. */
    private static String text(ByteBuffer buffer) {
        String text = StandardCharsets.UTF_8.decode(buffer).toString();
        int end = text.indexOf(0);
        return end < 0 ? text : text.substring(0, end);
    }

    /** Returns the permissions of a mode as in stat(2). */
    private static FileAttribute<Set<PosixFilePermission>> mode(int mode) {
        PosixFilePermission[] all = PosixFilePermission.values();
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        for (int i = 0; i < all.length; i++) {
            // in the order of the bits, from the highest
            if ((mode >> (all.length - 1 - i) & 1) != 0) {
                permissions.add(all[i]);
            }
        }
        return PosixFilePermissions.asFileAttribute(permissions);
    }
}
