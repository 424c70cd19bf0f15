// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/** Which way connections and servers went, and why. */
final class Connections implements ConnectionsMXBean {
    private static final int MOST_RECENT = 256;
    // Some runtimes have no recorder.
    private static final boolean RECORDS = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private final String state;
    private final Consumer<Connections> first;
    private final AtomicBoolean any = new AtomicBoolean();
    private final Map<Sort, LongAdder> counts = new ConcurrentHashMap<>();
    // guarded by itself
    private final Deque<Entry> recent = new ArrayDeque<>();

    /**
     * None yet.
     *
     * @param state what is done in this JVM
     * @param first told when there is one
     */
    Connections(String state, Consumer<Connections> first) {
        this.state = state;
        this.first = first;
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

    /** Those that are counted together. */
    private record Sort(Kind kind, boolean rdma, String cause) {
        @Override
        public String toString() {
            return kind.name().toLowerCase(Locale.ROOT) + (rdma ? " RDMA" : " TCP")
                    + (cause.isEmpty() ? "" : ": " + cause);
        }
    }

    private record Entry(Kind kind, boolean rdma, @Nullable SocketAddress address, String reason) {
        @Override
        public String toString() {
            return kind.name().toLowerCase(Locale.ROOT) + " " + address + (rdma ? " RDMA" : " TCP")
                    + (reason.isEmpty() ? "" : ": " + reason);
        }
    }

    /** Takes account of one. */
    void add(Kind kind, boolean rdma, @Nullable SocketAddress local, @Nullable SocketAddress remote, String reason) {
        // Without what differs for each address.
        int details = reason.indexOf(": ");
        Sort sort = new Sort(kind, rdma, details < 0 ? reason : reason.substring(0, details));
        counts.computeIfAbsent(sort, _ -> new LongAdder()).increment();
        synchronized (recent) {
            if (recent.size() == MOST_RECENT) {
                recent.removeFirst();
            }
            recent.add(new Entry(kind, rdma, remote == null ? local : remote, reason));
        }
        if (RECORDS) {
            ConnectionEvent.record(kind.name().toLowerCase(Locale.ROOT), rdma, local, remote, reason);
        }
        if (!any.get() && any.compareAndSet(false, true)) {
            first.accept(this);
        }
    }

    @Override
    public String getState() {
        return state;
    }

    @Override
    public Map<String, Long> getCounts() {
        Map<String, Long> sums = new TreeMap<>();
        counts.forEach((sort, count) -> sums.put(sort.toString(), count.sum()));
        return sums;
    }

    @Override
    public List<String> getRecent() {
        synchronized (recent) {
            return recent.stream().map(Entry::toString).toList();
        }
    }
}
