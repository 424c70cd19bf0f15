// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A virtual thread that checks now and then that the peer of a stream can be reached. */
final class KeepAlive {
    private static final long LONGEST = TimeUnit.DAYS.toNanos(36_500);

    private final StreamCore core;
    private final long nanos;
    private final Thread thread;
    private volatile boolean stopped;

    private KeepAlive(StreamCore core, Duration interval) {
        this.core = core;
        this.nanos = Math.min(TimeUnit.NANOSECONDS.convert(interval), LONGEST);
        this.thread = Thread.ofVirtual().name("rdmacm-keep-alive").unstarted(this::run);
    }

    static KeepAlive start(StreamCore core, Duration interval) {
        KeepAlive keepAlive = new KeepAlive(core, interval);
        keepAlive.thread.start();
        return keepAlive;
    }

    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }

    private void run() {
        long next = System.nanoTime() + nanos;
        while (!stopped) {
            long left = next - System.nanoTime();
            if (left > 0) {
                LockSupport.parkNanos(this, left);
            } else {
                core.keepAlive();
                next = System.nanoTime() + nanos;
            }
        }
    }
}
