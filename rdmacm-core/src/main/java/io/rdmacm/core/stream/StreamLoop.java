// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.internal.access.StreamAccess;
import io.rdmacm.core.internal.engine.Loop;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.internal.wait.EventFile;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the streams of an event loop share: a loop of the engine for each device that they use, and a lock. The loop of
 * a device is there for as long as there are streams over it. A thread that takes completions for one stream takes them
 * for all, and each of them is told.
 */
final class StreamLoop implements StreamAccess.SharedQueues {
    private static final Logger LOG = LoggerFactory.getLogger(StreamLoop.class);
    // Of a first queue: small enough to be cheap, large enough for a dozen streams with default settings. Each queue is
    // larger than the one before.
    static final int EXPECTED_COMPLETIONS = 8192;

    /** Guards the loops, and the streams. Never held during a sleep. */
    final MixedThreadsLock lock = new MixedThreadsLock();
    private final EventFile file;
    // Replaced with the lock held, read without it.
    private volatile List<DeviceLoop> devices = List.of();
    private boolean closed;
    private int streams;

    private StreamLoop(EventFile file) {
        this.file = file;
    }

    static StreamLoop open() throws RdmaException {
        return new StreamLoop(EventFile.open());
    }

    /** The loop of a device. */
    static final class DeviceLoop {
        private final VerbsContext context;
        private final Loop loop;
        private int streams;
        // why nothing is polled any more
        private volatile boolean failed;

        private DeviceLoop(VerbsContext context, Loop loop) {
            this.context = context;
            this.loop = loop;
        }

        Loop loop() {
            return loop;
        }
    }

    /** Returns the loop of a device for one stream more, to be left. */
    DeviceLoop join(VerbsContext context, int maxCompletions) throws RdmaException {
        try (var _ = lock.hold()) {
            DeviceLoop joined = null;
            for (DeviceLoop device : devices) {
                joined = device.context == context && !device.failed ? device : joined;
            }
            if (joined == null) {
                joined = open(context, maxCompletions);
            }
            joined.streams++;
            return joined;
        }
    }

    private DeviceLoop open(VerbsContext context, int maxCompletions) throws RdmaException {
        try (Parts parts = new Parts()) {
            Loop loop = parts.add(new Loop(context, maxCompletions, lock), Loop::close);
            DeviceLoop created = new DeviceLoop(context, loop);
            file.watch(loop.fd());
            List<DeviceLoop> more = new ArrayList<>(devices);
            more.add(created);
            devices = List.copyOf(more);
            return parts.complete(created);
        }
    }

    /** A stream needs the loop of its device no more, after its queue pair. */
    void leave(DeviceLoop left) throws RdmaException {
        try (var _ = lock.hold()) {
            left.streams--;
            if (left.streams > 0) {
                return;
            }
            List<DeviceLoop> rest = new ArrayList<>(devices);
            rest.remove(left);
            devices = List.copyOf(rest);
        }
        left.loop.close();
    }

    /** A stream has been made. */
    void added() {
        try (var _ = lock.hold()) {
            streams++;
        }
    }

    /** A stream has been closed. */
    void removed() throws RdmaException {
        try (var _ = lock.hold()) {
            streams--;
            closeIfUnused();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                closeIfUnused();
            }
        } catch (RdmaException e) {
            LOG.warn("the file of an event loop could not be closed", e);
        } finally {
            lock.unlock();
        }
    }

    private void closeIfUnused() throws RdmaException {
        if (closed && streams == 0) {
            file.close();
        }
    }

    @Override
    public boolean poll() {
        return any(loop -> loop.drive() > 0);
    }

    /** Takes some of the completions that are there. Called with the lock held. */
    void takeSome() {
        boolean ignored = any(Loop::poll);
    }

    /** Takes all completions that are there: no more come than there are credits for. Called with the lock held. */
    void takeAll() {
        boolean ignored = any(Loop::takeAll);
    }

    @Override
    public boolean arm() {
        return !any(loop -> !loop.prepareSleep());
    }

    /** Something that is done with a loop. Returns whether there was, or is, anything to do. */
    @FunctionalInterface
    private interface Action {
        boolean run(Loop loop) throws RdmaException;
    }

    /** Does something with the loop of each device; returns whether one of them had anything to do, or has failed. */
    private boolean any(Action action) {
        boolean any = false;
        List<DeviceLoop> all = devices;
        for (int i = 0; i < all.size(); i++) {
            DeviceLoop device = all.get(i);
            try {
                any |= !device.failed && action.run(device.loop);
            } catch (RdmaException | IllegalStateException e) {
                fail(device, e);
                any = true;
            }
        }
        return any;
    }

    /** Ends all streams of a device whose completions cannot be taken. */
    private void fail(DeviceLoop device, Exception reason) {
        try (var _ = lock.hold()) {
            if (!device.failed && devices.contains(device)) {
                device.failed = true;
                LOG.error("the streams of an event loop can no longer be driven", reason);
                device.loop.members().forEach(member -> member.end(reason));
            }
        }
    }

    @Override
    public int fd() {
        return file.fd();
    }
}
