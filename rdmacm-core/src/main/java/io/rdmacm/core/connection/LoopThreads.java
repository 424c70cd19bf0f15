// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.internal.life.Stack;

/** Loops that threads of the library drive: the same number for each device, started when they are first needed. */
final class LoopThreads extends ConnectionLoopGroup {
    private final ConnectionManager manager;
    private final LoopSettings settings;
    // Guarded by this.
    private final Map<DeviceResources, List<ConnectionLoop>> loops = new HashMap<>();
    private int turn;
    private boolean closed;

    LoopThreads(ConnectionManager manager, LoopSettings settings) {
        this.manager = manager;
        this.settings = settings;
    }

    @Override
    synchronized ConnectionLoop next(ConnectionManager wanted, DeviceResources device) throws RdmaException {
        if (wanted != manager) {
            throw new IllegalArgumentException("the loops belong to another connection manager");
        }
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
        List<ConnectionLoop> list = loops.computeIfAbsent(device, d -> new ArrayList<>());
        if (list.size() < settings.threads()) {
            try (Parts parts = new Parts()) {
                ConnectionLoop loop = parts.add(ConnectionLoop.open(manager, device, settings), ConnectionLoop::close);
                loop.start();
                list.add(loop);
                return parts.complete(loop);
            }
        }
        turn = (turn + 1) % list.size();
        return list.get(turn);
    }

    @Override
    public synchronized int connections() {
        return all().mapToInt(ConnectionLoop::connections).sum();
    }

    @Override
    public synchronized long completions() {
        return all().mapToLong(ConnectionLoop::completions).sum();
    }

    private Stream<ConnectionLoop> all() {
        return loops.values().stream().flatMap(List::stream);
    }

    @Override
    synchronized void requireNotInHandler() {
        loops.values().forEach(list -> list.forEach(ConnectionLoop::requireNotInHandler));
    }

    @Override
    public void close() throws RdmaException {
        Stack.require();
        // Waits for the threads without the lock, which their handlers may need.
        for (ConnectionLoop loop : end()) {
            loop.end();
        }
        manager.forget(this);
    }

    private synchronized List<ConnectionLoop> end() {
        List<ConnectionLoop> all = all().toList();
        ConnectionLoop.stop(all);
        closed = true;
        return all;
    }

    @Override
    public String toString() {
        return "ConnectionLoopGroup[" + settings.threads() + " threads]";
    }
}
