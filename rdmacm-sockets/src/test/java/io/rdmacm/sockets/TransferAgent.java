// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.lang.instrument.Instrumentation;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** An agent that changes file channels only, and a program that has them transfer to and from a channel like ours. */
public final class TransferAgent {
    private TransferAgent() {
    }

    /** Called before the program begins. */
    public static void premain(String argument, Instrumentation instrumentation) {
        FileTransfers.install(instrumentation);
    }

    /** Prints what the channel was asked, and what the file channel returned. */
    public static void main(String[] arguments) throws Exception {
        Path path = Files.write(Files.createTempFile("file", ""), new byte[100]);
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE)) {
            System.out.println(file.transferTo(10, 1000, new Recording()));
            System.out.println(file.transferFrom(new Recording(), 10, 1000));
        }
    }

    private static final class Recording implements ByteChannel, FileTransfers.Channel {
        @Override
        public long send(FileChannel file, long position, long count) {
            System.out.println("to " + position + " " + count);
            return 7;
        }

        @Override
        public long receive(FileChannel file, long position, long count) {
            System.out.println("from " + position + " " + count);
            return 8;
        }

        @Override
        public int read(ByteBuffer target) {
            return -1;
        }

        @Override
        public int write(ByteBuffer source) {
            return 0;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            // There is nothing to close.
        }
    }
}
