// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

/** Which way connections and servers went, and why. */
final class Connections implements ConnectionsMXBean {
    private static final int MOST_RECENT = 256;
    // Some runtimes have no recorder.
    private static final boolean RECORDS = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private final String state;
    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
    // guarded by itself
    private final Deque<String> recent = new ArrayDeque<>();

    Connections(String state) {
        this.state = state;
    }

    /** What was made. */
    enum Kind {
        /** A connection of a client. */
        CONNECT,
        /** A connection that a server has accepted. */
        ACCEPT,
        /** A server. */
        LISTEN
    }

    /** Takes account of one. */
    void add(Kind kind, boolean rdma, @Nullable SocketAddress local, @Nullable SocketAddress remote, String reason) {
        String name = kind.name().toLowerCase(Locale.ROOT);
        String way = rdma ? "RDMA" : "TCP";
        // Without what differs for each address.
        String cause = reason.replaceFirst(": .*", "");
        counts.computeIfAbsent(name + " " + way + (cause.isEmpty() ? "" : ": " + cause), _ -> new LongAdder())
                .increment();
        synchronized (recent) {
            if (recent.size() == MOST_RECENT) {
                recent.removeFirst();
            }
            recent.add(name + " " + (remote == null ? local : remote) + " " + way
                    + (reason.isEmpty() ? "" : ": " + reason));
        }
        if (RECORDS) {
            ConnectionEvent.record(name, rdma, local, remote, reason);
        }
    }

    @Override
    public String getState() {
        return state;
    }

    @Override
    public Map<String, Long> getCounts() {
        Map<String, Long> sums = new TreeMap<>();
        counts.forEach((name, count) -> sums.put(name, count.sum()));
        return sums;
    }

    @Override
    public List<String> getRecent() {
        synchronized (recent) {
            return new ArrayList<>(recent);
        }
    }
}
