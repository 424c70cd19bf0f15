// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.nio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.AbstractSelectableChannel;

import io.rdmacm.core.nio.RdmaSelectorProvider;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;

/** A channel whose file is a counter: it can be read as often as somebody says so, and behaves like a stream. */
final class FakeChannel extends AbstractSelectableChannel implements Selectable {
    private final ChannelKeys keys = new ChannelKeys();
    private final MemorySegment scratch = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
    private final int file;
    private int available;
    private boolean happened;
    private boolean signalled;
    private int looks;
    private int arms;

    FakeChannel(RdmaSelectorProvider provider) throws Exception {
        super(provider);
        file = Libc.eventfd();
        configureBlocking(false);
    }

    /** Something arrives. */
    synchronized void arrive() throws RdmaException {
        available++;
        happened = true;
        signal();
    }

    /** Something happens that makes no operation possible. */
    synchronized void stir() throws RdmaException {
        happened = true;
        signal();
    }

    private void signal() throws RdmaException {
        if (!signalled) {
            signalled = true;
            Libc.signal(file);
        }
    }

    /** Reads one of the things that have arrived; the file is not readable any more. */
    synchronized void read() throws RdmaException {
        available--;
        take();
    }

    /** Sees what has arrived without reading it, as a write does. */
    void write() throws RdmaException {
        synchronized (this) {
            take();
        }
        keys.recheck();
    }

    private void take() throws RdmaException {
        happened = false;
        if (signalled) {
            signalled = false;
            Libc.drain(file, scratch.address());
        }
    }

    synchronized int looks() {
        return looks;
    }

    synchronized int arms() {
        return arms;
    }

    @Override
    public int file() {
        return file;
    }

    @Override
    public boolean isArmedBySelector() {
        return false;
    }

    @Override
    public synchronized int readyOps() {
        looks++;
        try {
            take();
        } catch (RdmaException e) {
            throw new AssertionError(e);
        }
        return available > 0 ? SelectionKey.OP_READ : 0;
    }

    @Override
    public synchronized boolean arm() {
        arms++;
        return !happened;
    }

    @Override
    public ChannelKeys keys() {
        return keys;
    }

    @Override
    public int validOps() {
        return SelectionKey.OP_READ;
    }

    @Override
    protected void implCloseSelectableChannel() throws RdmaException {
        keys.close();
        Libc.close(file);
    }

    @Override
    protected void implConfigureBlocking(boolean block) {
    }
}
