// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.time.Duration;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.internal.access.StreamAccess;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.verbs.internal.wait.Deadline;

/** A part of a file that is moved between the file and the buffers of a stream, without another copy. */
final class FileTransfer {
    private static final StreamAccess STREAMS = StreamAccess.get();
    private static final Duration FOREVER = Deadline.FOREVER;

    private final RdmaStream stream;
    private final FileChannel file;
    private final long position;
    private final boolean waits;
    private long done;

    /**
     * Begins with nothing moved.
     *
     * @param waits whether it may wait for the stream
     */
    FileTransfer(RdmaStream stream, FileChannel file, long position, boolean waits) {
        this.stream = stream;
        this.file = file;
        this.position = position;
        this.waits = waits;
    }

    /** Returns how much was moved, also if it has failed since. */
    long done() {
        return done;
    }

    void send(long count) throws IOException, InterruptedException {
        move(RdmaStream.WRITABLE, count, most -> STREAMS.write(stream,
                (part, before) -> file.read(part, position + done + before), most));
    }

    void receive(long count) throws IOException, InterruptedException {
        try {
            move(RdmaStream.READABLE, count, most -> STREAMS.read(stream,
                    (part, before) -> file.write(part, position + done + before), most));
        } catch (DisconnectedException e) {
            // As when the peer has ended it.
            return;
        }
    }

    /** Moves what can be moved without waiting. */
    private interface Step {
        int move(long most) throws IOException;
    }

    private void move(int interest, long count, Step step) throws IOException, InterruptedException {
        while (done < count) {
            int moved = step.move(count - done);
            if (moved < 0 || moved == 0 && !waits) {
                return;
            }
            if (moved == 0) {
                stream.await(interest, FOREVER);
            }
            done += moved;
        }
    }
}
