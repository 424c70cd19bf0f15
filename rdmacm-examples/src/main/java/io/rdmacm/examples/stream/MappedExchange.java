// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.StreamMapping;
import io.rdmacm.examples.support.Console;
import io.rdmacm.verbs.error.RdmaTimeoutException;

/**
 * What riostream does with a connection. The memory that the peer writes to is also what this side sends. Its last byte
 * says whose turn it is: it counts the turns.
 */
final class MappedExchange {
    // what each side sends through the stream before a test begins
    private static final int SYNC = 16;
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    private final boolean client;
    private final TransferMode mode;
    private final Duration timeout;
    private final BusyWait busy;
    // null if the data do not matter
    private final CountingData data;
    private final Console console;

    /**
     * Creates an exchange.
     *
     * @param client whether this side sends first
     * @param mode how data are transferred
     * @param timeout how long to wait for the peer
     * @param verify whether the data are checked
     * @param console gets the results
     */
    MappedExchange(boolean client, TransferMode mode, Duration timeout, boolean verify, Console console) {
        this.client = client;
        this.mode = mode;
        this.timeout = timeout;
        this.busy = new BusyWait(timeout);
        this.data = verify ? new CountingData() : null;
        this.console = console;
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
        if (!client) {
            new RdmaEnd(stream, mode, timeout).awaitPeer();
        }
    }

    private void run(RdmaStream stream, StreamTest test, MemorySegment memory)
            throws IOException, InterruptedException {
        StreamEnd end = new RdmaEnd(stream, mode, timeout);
        // The C program receives this where the peer will write to, so it must not look like a turn.
        ByteBuffer sync = ByteBuffer.allocateDirect(SYNC).putLong(-1).putLong(-1).flip();
        if (client) {
            end.send(sync.duplicate());
            end.receive(sync);
        } else {
            end.receive(sync.duplicate());
            end.send(sync);
        }
        byte turn = 0;
        long start = System.nanoTime();
        for (int i = 0; i < test.iterations(); i++) {
            if (client) {
                send(stream, memory, test.count(), turn++);
                receive(memory, turn++);
            } else {
                receive(memory, turn++);
                send(stream, memory, test.count(), turn++);
            }
        }
        console.print(test.report(System.nanoTime() - start));
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
            if (mode.async()) {
                await(stream);
            }
            int written = stream.writeMapped(memory.asSlice(sent), sent);
            sent += written;
            if (written > 0) {
                busy.reset();
            } else if (mode.blocking()) {
                await(stream);
            } else {
                busy.pause();
            }
        }
    }

    private void await(RdmaStream stream) throws IOException, InterruptedException {
        if (stream.await(RdmaStream.WRITABLE, timeout) == 0) {
            throw new RdmaTimeoutException("riowrite", "there was no room for " + timeout.toSeconds() + " s");
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
