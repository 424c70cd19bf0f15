// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;

/** Stands in for the class of this name, in plain Java: some bytes on the heap, whose key is a number. */
public final class MemoryRegion {
    // guarded by itself
    private static final List<MemoryRegion> ALL = new ArrayList<>();

    private final MemorySegment memory;
    private final int key;
    private volatile boolean closed;

    /** Registers some bytes. */
    public MemoryRegion(int length) {
        memory = MemorySegment.ofArray(new byte[length]);
        synchronized (ALL) {
            key = ALL.size();
            ALL.add(this);
        }
    }

    /** Forgets all regions. */
    public static void forgetAll() {
        synchronized (ALL) {
            ALL.clear();
        }
    }

    /** What the device does for a read of a peer. */
    public static MemorySegment read(RemoteMemory remote, long offset, long length) {
        MemoryRegion region;
        synchronized (ALL) {
            region = ALL.get(remote.key());
        }
        if (region.closed) {
            throw new AssertionError("a peer reads what is not registered any more");
        }
        return region.memory.asSlice(remote.address() + offset, length);
    }

    /** Returns the bytes. */
    public MemorySegment memory() {
        return memory;
    }

    /** Returns how many there are. */
    public long length() {
        return memory.byteSize();
    }

    /** Returns that peers may read them. */
    public Set<AccessFlag> access() {
        return Set.of(AccessFlag.REMOTE_READ);
    }

    /** Returns what a peer needs to read them. */
    public RemoteMemory remoteMemory() {
        return new RemoteMemory(0, key, length());
    }

    /** Ends the registration. */
    public void close() {
        if (closed) {
            throw new AssertionError("closed twice");
        }
        closed = true;
    }
}
