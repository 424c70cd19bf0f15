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
import java.util.concurrent.TimeUnit;

import io.rdmacm.bindings.pollfd;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.internal.ffi.Memory;

/** A platform thread sleeps in poll(2), on the files and on an event counter that wakes it. */
final class PollSleep implements Sleep {
    // What is left of a deadline that is never, however long ago that was set.
    private static final long FOREVER = Long.MAX_VALUE / 2;
    private static final long POLLFD_SIZE = pollfd.sizeof();
    private static final long REVENTS = pollfd.revents$offset();

    private final int[] files;
    private final int wakeup;
    private final Interruptor interruptor;
    // The pollfd structs of the files, that of the counter, and 8 bytes to read the counter into.
    private final MemorySegment segment;
    private final long memory;
    private final long counter;

    /**
     * Creates the event counter.
     *
     * @param files the file descriptors
     * @param interrupt called when the sleeping thread is interrupted
     */
    PollSleep(int[] files, Runnable interrupt) throws RdmaException {
        this.files = files;
        this.interruptor = new Interruptor(interrupt);
        this.segment = Arena.ofAuto().allocate((files.length + 1) * POLLFD_SIZE + Long.BYTES, Long.BYTES);
        this.memory = segment.address();
        this.counter = memory + files.length * POLLFD_SIZE;
        this.wakeup = Libc.eventfd();
    }

    @Override
    public void run(long nanos) throws RdmaException {
        for (int i = 0; i < files.length; i++) {
            write(i, files[i]);
        }
        write(files.length, wakeup);
        int ready = interruptor.poll(memory, files.length + 1, milliseconds(nanos));
        if (ready > 0) {
            for (int i = 0; i < files.length; i++) {
                if ((Memory.getShort(memory + i * POLLFD_SIZE + REVENTS) & Libc.POLLNVAL) != 0) {
                    throw Poller.notOpen(files[i]);
                }
            }
        }
    }

    @Override
    public void wake() {
        try {
            Libc.signal(wakeup);
        } catch (RdmaException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void woken() throws RdmaException {
        Libc.drain(wakeup, counter + POLLFD_SIZE);
    }

    @Override
    public void abandon() {
        throw new IllegalStateException("a platform thread sleeps on files that are being closed");
    }

    /** Converts nanoseconds to the milliseconds of poll(2) and epoll_wait(2), rounded up; -1 if they are for ever. */
    static int milliseconds(long nanos) {
        if (nanos >= FOREVER) {
            // Without a limit, the kernel neither looks at the clock nor starts a timer.
            return -1;
        }
        long rounded = TimeUnit.NANOSECONDS.toMillis(nanos);
        return (int) Math.min(Integer.MAX_VALUE, nanos % 1_000_000 == 0 ? rounded : rounded + 1);
    }

    /** Frees the event counter. */
    void close() throws RdmaException {
        Libc.close(wakeup);
    }

    private void write(int index, int file) {
        long entry = memory + index * POLLFD_SIZE;
        Memory.putInt(entry + pollfd.fd$offset(), file);
        Memory.putShort(entry + pollfd.events$offset(), (short) Libc.POLLIN);
        Memory.putShort(entry + REVENTS, (short) 0);
    }

    /** Hooks into Thread.interrupt() during a wait, like the selectors of the JDK. */
    private static final class Interruptor extends AbstractSelector {
        private final Runnable interrupt;

        Interruptor(Runnable interrupt) {
            super(null);
            this.interrupt = interrupt;
        }

        int poll(long files, int count, int milliseconds) throws RdmaException {
            begin();
            try {
                return Libc.poll(files, count, milliseconds);
            } finally {
                end();
            }
        }

        @Override
        public Selector wakeup() {
            interrupt.run();
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
