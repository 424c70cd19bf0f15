// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.List;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamMapping;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import picocli.CommandLine.Command;

/**
 * The command {@code riostream}, as riostream(1): both sides map memory for the other one, which writes to it directly.
 * The memory that the peer writes to is also what this side sends. Its last byte says whose turn it is: it counts the
 * turns.
 *
 * <p>Unlike in C, a transfer with wrong data ends the program, and -b works for clients too. A server uses inline data
 * of one size for all its tests.
 */
@Command(name = "riostream", header = "Measures direct writes to mapped memory of streams.",
        description = "Like rstream, but the transfers are written to memory that the peer has mapped; each side looks"
                + " at its memory until the last byte has changed. Both sides need the same -I, -C, -S and -T v.",
        footer = {"%nFor example, a server, and a client:",
            "  rdmacm riostream -T b", "  rdmacm riostream -s 192.168.99.1 -T b"})
final class Riostream extends StreamProgram {
    // what each side sends through the stream before a test begins
    private static final int SYNC = 16;
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    private BusyWait busy;
    private boolean async;
    // null if the data do not matter
    private CountingData data;

    @Override
    protected void run() throws IOException, InterruptedException {
        for (TestOption refused : List.of(TestOption.SOCKETS, TestOption.FORK, TestOption.RESOLVE)) {
            require(!wants(refused), "riostream has no test option " + refused);
        }
        checkOptions();
        busy = new BusyWait(timeout());
        async = wants(TestOption.ASYNC);
        data = wants(TestOption.VERIFY) ? new CountingData() : null;
        StreamSettings settings = settings().mapSlots(1).build();
        try (RdmaStreamServer listener = listen(settings)) {
            print(StreamTest.HEADER);
            for (Part part : parts()) {
                try (RdmaStream stream = stream(listener, settings, part.inlineSize())) {
                    exchange(stream, part.tests());
                }
            }
        }
    }

    private void exchange(RdmaStream stream, List<StreamTest> tests) throws IOException, InterruptedException {
        StreamEnd end = new RdmaEnd(stream, this);
        for (StreamTest test : tests) {
            try (Arena arena = Arena.ofShared()) {
                MemorySegment memory = arena.allocate(test.size());
                memory.set(ValueLayout.JAVA_BYTE, test.size() - 1L, (byte) -1);
                // The peer may write when it has read what is sent after this.
                try (StreamMapping mapping = stream.map(memory, 0)) {
                    sync(end);
                    exchange(stream, test, mapping.memory());
                }
            }
        }
        if (isServer()) {
            end.awaitPeer();
        }
    }

    private void sync(StreamEnd end) throws IOException, InterruptedException {
        // The C program receives this where the peer will write to, so it must not look like a turn.
        ByteBuffer sync = ByteBuffer.allocateDirect(SYNC).putLong(-1).putLong(-1).flip();
        if (!isServer()) {
            end.send(sync.duplicate());
            end.receive(sync);
        } else {
            end.receive(sync.duplicate());
            end.send(sync);
        }
    }

    private void exchange(RdmaStream stream, StreamTest test, MemorySegment memory)
            throws IOException, InterruptedException {
        byte turn = 0;
        long start = System.nanoTime();
        for (int i = 0; i < test.iterations(); i++) {
            if (!isServer()) {
                send(stream, memory, test.count(), turn++);
                receive(memory, turn++);
            } else {
                receive(memory, turn++);
                send(stream, memory, test.count(), turn++);
            }
        }
        print(test.report(System.nanoTime() - start));
    }

    /** Sends transfers, of which the peer looks at the last one only. */
    private void send(RdmaStream stream, MemorySegment memory, int count, byte turn)
            throws IOException, InterruptedException {
        for (int i = 0; i < count - 1; i++) {
            send(stream, memory);
        }
        long last = memory.byteSize() - 1;
        memory.set(ValueLayout.JAVA_BYTE, last, turn);
        if (data != null) {
            data.fill(memory.asSlice(0, last).asByteBuffer());
        }
        send(stream, memory);
    }

    private void send(RdmaStream stream, MemorySegment memory) throws IOException, InterruptedException {
        busy.reset();
        for (long sent = 0; sent < memory.byteSize();) {
            if (async) {
                awaitRoom(stream);
            }
            int written = stream.writeMapped(memory.asSlice(sent), sent);
            sent += written;
            if (written == 0 && isBlocking()) {
                awaitRoom(stream);
            } else {
                busy.pauseUnless(written > 0);
            }
        }
    }

    private void awaitRoom(RdmaStream stream) throws IOException, InterruptedException {
        if (stream.await(RdmaStream.WRITABLE, timeout()) == 0) {
            throw new RdmaTimeoutException("riowrite", "there was no room for " + timeout().toSeconds() + " s");
        }
    }

    private void receive(MemorySegment memory, byte turn) throws IOException, InterruptedException {
        long last = memory.byteSize() - 1;
        busy.reset();
        while ((byte) BYTE.getVolatile(memory, last) != turn) {
            busy.pause();
        }
        if (data != null) {
            data.verify(memory.asSlice(0, last).asByteBuffer());
        }
    }
}
