// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.Set;

import io.rdmacm.bindings.pollfd;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * Waits for files with poll(2), together with an event counter that {@link #wake()} and Thread.interrupt() write to.
 * Only one thread at a time may wait.
 */
public final class Poller {
    private static final long POLLFD_SIZE = pollfd.sizeof();
    private static final long REVENTS = pollfd.revents$offset();

    private final int[] files;
    private final int wakeup;
    private final Interruptor interruptor = new Interruptor();
    // The pollfd structs of the files, that of the counter, and 8 bytes to read the counter into.
    private final MemorySegment segment;
    private final long memory;
    private final long counter;
    // guarded by this, so that a wake never writes to a file descriptor that was closed and reused for another file
    private boolean closed;

    /**
     * Creates a poller.
     *
     * @param files the file descriptors to wait for; they must stay open until the last wait has ended
     */
    public Poller(int... files) throws RdmaException {
        this.files = files.clone();
        this.segment = Arena.ofAuto().allocate((files.length + 1) * POLLFD_SIZE + Long.BYTES, Long.BYTES);
        this.memory = segment.address();
        this.counter = memory + files.length * POLLFD_SIZE;
        this.wakeup = Libc.eventfd();
    }

    /**
     * Waits until a file is readable, the deadline has passed, or {@link #wake()} was called. Does not report which of
     * these happened.
     */
    public void await(Deadline deadline) throws RdmaException, InterruptedException {
        int ready = interruptor.run(() -> {
            for (int i = 0; i < files.length; i++) {
                write(i, files[i]);
            }
            write(files.length, wakeup);
            return Libc.poll(memory, files.length + 1, EventSource.milliseconds(deadline.remainingNanos()));
        });
        if (ready > 0) {
            for (int i = 0; i < files.length; i++) {
                if ((Memory.getShort(memory + i * POLLFD_SIZE + REVENTS) & Libc.POLLNVAL) != 0) {
                    throw new RdmaException("poll", "file descriptor " + files[i] + " was closed outside this library");
                }
            }
            if (Memory.getShort(counter + REVENTS) != 0) {
                Libc.drain(wakeup, counter + POLLFD_SIZE);
            }
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    /** Ends the current wait, or if there is none, the next one. */
    public synchronized void wake() {
        if (closed) {
            return;
        }
        try {
            Libc.signal(wakeup);
        } catch (RdmaException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Frees the event counter. No thread may be waiting. */
    public synchronized void close() throws RdmaException {
        if (!closed) {
            closed = true;
            Libc.close(wakeup);
        }
    }

    private void write(int index, int file) {
        long entry = memory + index * POLLFD_SIZE;
        Memory.putInt(entry + pollfd.fd$offset(), file);
        Memory.putShort(entry + pollfd.events$offset(), (short) Libc.POLLIN);
        Memory.putShort(entry + REVENTS, (short) 0);
    }

    @FunctionalInterface
    private interface Wait {
        int run() throws RdmaException;
    }

    /** Hooks into Thread.interrupt() during a wait, like the selectors of the JDK. */
    private final class Interruptor extends AbstractSelector {
        Interruptor() {
            super(null);
        }

        int run(Wait wait) throws RdmaException {
            begin();
            try {
                return wait.run();
            } finally {
                end();
            }
        }

        @Override
        public Selector wakeup() {
            Poller.this.wake();
            return this;
        }

        @Override
        protected void implCloseSelector() throws IOException {
        }

        @Override
        protected SelectionKey register(AbstractSelectableChannel channel, int ops, Object attachment) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Set<SelectionKey> keys() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Set<SelectionKey> selectedKeys() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int selectNow() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int select(long timeout) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int select() {
            throw new UnsupportedOperationException();
        }
    }
}
