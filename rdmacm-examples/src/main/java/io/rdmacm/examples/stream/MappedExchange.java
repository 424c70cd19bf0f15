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
import io.rdmacm.core.stream.StreamMapping;
import io.rdmacm.verbs.error.RdmaTimeoutException;

/**
 * What riostream does with a connection. The memory that the peer writes to is also what this side sends. Its last byte
 * says whose turn it is: it counts the turns.
 */
final class MappedExchange {
    // what each side sends through the stream before a test begins
    private static final int SYNC = 16;
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    private final StreamProgram program;
    private final boolean async;
    private final boolean blocking;
    private final BusyWait busy;
    // null if the data do not matter
    private final CountingData data;

    MappedExchange(StreamProgram program) {
        this.program = program;
        this.async = program.wants(TestOption.ASYNC);
        this.blocking = program.isBlocking();
        this.busy = new BusyWait(program.timeout());
        this.data = program.wants(TestOption.VERIFY) ? new CountingData() : null;
    }

    /** Runs tests, and prints their results. */
    void run(RdmaStream stream, List<StreamTest> tests) throws IOException, InterruptedException {
        for (StreamTest test : tests) {
            try (Arena arena = Arena.ofShared()) {
                MemorySegment memory = arena.allocate(test.size());
                memory.set(ValueLayout.JAVA_BYTE, test.size() - 1L, (byte) -1);
                // The peer may write when it has read what is sent after this.
                try (StreamMapping mapping = stream.map(memory, 0)) {
                    run(stream, test, mapping.memory());
                }
            }
        }
        if (program.isServer()) {
            new RdmaEnd(stream, program).awaitPeer();
        }
    }

    private void run(RdmaStream stream, StreamTest test, MemorySegment memory)
            throws IOException, InterruptedException {
        StreamEnd end = new RdmaEnd(stream, program);
        // The C program receives this where the peer will write to, so it must not look like a turn.
        ByteBuffer sync = ByteBuffer.allocateDirect(SYNC).putLong(-1).putLong(-1).flip();
        if (!program.isServer()) {
            end.send(sync.duplicate());
            end.receive(sync);
        } else {
            end.receive(sync.duplicate());
            end.send(sync);
        }
        byte turn = 0;
        long start = System.nanoTime();
        for (int i = 0; i < test.iterations(); i++) {
            if (!program.isServer()) {
                send(stream, memory, test.count(), turn++);
                receive(memory, turn++);
            } else {
                receive(memory, turn++);
                send(stream, memory, test.count(), turn++);
            }
        }
        program.print(test.report(System.nanoTime() - start));
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
                await(stream);
            }
            int written = stream.writeMapped(memory.asSlice(sent), sent);
            sent += written;
            if (written > 0) {
                busy.reset();
            } else if (blocking) {
                await(stream);
            } else {
                busy.pause();
            }
        }
    }

    private void await(RdmaStream stream) throws IOException, InterruptedException {
        if (stream.await(RdmaStream.WRITABLE, program.timeout()) == 0) {
            throw new RdmaTimeoutException("riowrite", "there was no room for " + program.timeout().toSeconds() + " s");
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
