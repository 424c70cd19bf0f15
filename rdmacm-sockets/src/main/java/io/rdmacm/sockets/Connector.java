// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that carries on with all connects that have begun over RDMA. It begins with the first one. */
final class Connector {
    private static final Logger LOG = LoggerFactory.getLogger(Connector.class);

    private final SelectorProvider provider;
    // guarded by this
    private final List<Race> begun = new ArrayList<>();
    private @Nullable Selector selector;

    Connector(SelectorProvider provider) {
        this.provider = provider;
    }

    /** Carries on with a race. */
    void begin(Race race) throws IOException {
        wake(race);
    }

    /** Has the thread look at what was closed. */
    void forget(Race race) throws IOException {
        wake(null);
    }

    private synchronized void wake(@Nullable Race race) throws IOException {
        if (selector == null) {
            Selector opened = provider.openSelector();
            selector = opened;
            Thread.ofPlatform().daemon().name("rdmacm-sockets connect").start(() -> run(opened));
        }
        if (race != null) {
            begun.add(race);
        }
        selector.wakeup();
    }

    private void run(Selector own) {
        Set<Race> running = new HashSet<>();
        List<Race> over = new ArrayList<>();
        while (true) {
            try {
                take(own, running, over);
                select(own, running);
                for (SelectionKey key : own.selectedKeys()) {
                    Race race = (Race) key.attachment();
                    if (key.isValid() && race.ready(key)) {
                        over.add(race);
                    }
                }
                own.selectedKeys().clear();
                for (Race race : running) {
                    if (race.outcome() != null || race.expire(own)) {
                        over.add(race);
                    }
                }
                finish(own, running, over);
            } catch (IOException | RuntimeException | Error e) {
                // None of them may wait forever because of another one.
                LOG.warn("the connects that are in progress have failed", e);
                running.forEach(race -> race.fail(e));
                over.addAll(running);
                own.selectedKeys().clear();
            }
        }
    }

    private void take(Selector own, Set<Race> running, List<Race> over) {
        List<Race> taken;
        synchronized (this) {
            taken = List.copyOf(begun);
            begun.clear();
        }
        for (Race race : taken) {
            running.add(race);
            try {
                race.start(own);
            } catch (IOException | RuntimeException e) {
                race.fail(e);
                over.add(race);
            }
        }
    }

    private static void select(Selector own, Set<Race> running) throws IOException {
        long nanos = Long.MAX_VALUE;
        for (Race race : running) {
            nanos = Math.min(nanos, race.nanosToTcp());
        }
        if (!own.selectedKeys().isEmpty() || nanos <= 0) {
            own.selectNow();
        } else if (nanos == Long.MAX_VALUE) {
            own.select();
        } else {
            own.select(TimeUnit.NANOSECONDS.toMillis(nanos) + 1);
        }
    }

    /** Announces the results when the selector has let go of the channels. */
    private static void finish(Selector own, Set<Race> running, List<Race> over) throws IOException {
        if (over.isEmpty()) {
            return;
        }
        over.forEach(race -> race.release(own));
        own.selectNow();
        for (Race race : over) {
            if (running.remove(race)) {
                race.announce();
            }
        }
        over.clear();
    }
}
