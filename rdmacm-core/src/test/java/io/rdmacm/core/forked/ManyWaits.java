// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.io.File;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/**
 * Thousands of virtual threads, each with an event channel and an id of its own, wait for the answer to an address
 * lookup that begins only when all of them wait. Prints what that takes.
 */
public final class ManyWaits {
    private static final Duration TIMEOUT = Duration.ofMinutes(8);

    private final int threads;
    private final List<CmId> ids = new ArrayList<>();
    private final CountDownLatch woken;

    private ManyWaits(int threads) {
        this.threads = threads;
        this.woken = new CountDownLatch(threads);
    }

    /** The argument is the number of threads. */
    public static void main(String[] args) throws Exception {
        ManyWaits waits = new ManyWaits(Integer.parseInt(args[0]));
        waits.open();
        waits.run();
        System.out.println("fine");
        System.exit(0);
    }

    private void open() throws RdmaException {
        for (int i = 0; i < threads; i++) {
            ids.add(CmId.open(EventChannel.open(), PortSpace.TCP));
        }
        // what happens once in a JVM
        CmId first = CmId.open(EventChannel.open(), PortSpace.TCP);
        Thread warm = Thread.ofVirtual().start(() -> await(first));
        while (warm.getState() != Thread.State.TIMED_WAITING) {
            Thread.yield();
        }
        resolve(first);
        while (warm.isAlive()) {
            Thread.yield();
        }
    }

    private void run() throws Exception {
        int before = tasks();
        long heap = heap();
        Measured starting = Measured.fromNow();
        List<Thread> waiting = new ArrayList<>(threads);
        for (CmId id : ids) {
            waiting.add(Thread.ofVirtual().start(() -> {
                await(id);
                woken.countDown();
            }));
        }
        for (Thread thread : waiting) {
            while (thread.getState() != Thread.State.TIMED_WAITING) {
                Thread.yield();
            }
        }
        starting.print("until " + threads + " virtual threads wait");
        System.out.println("measured: heap for each waiting thread: " + (heap() - heap) / threads + " bytes");
        System.out.println("measured: threads of the process before: " + before + ", while they wait: " + tasks()
                + ", carriers: " + carriers());
        Measured waking = Measured.fromNow();
        for (CmId id : ids) {
            resolve(id);
        }
        waking.print("until all lookups have begun");
        if (!woken.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError(woken.getCount() + " were not woken");
        }
        waking.print("until all of them have got what they waited for");
    }

    private void await(CmId id) {
        try (CmEvent event = id.channel().await(id, CmEventType.ADDR_RESOLVED, TIMEOUT)) {
            if (event.id() != id) {
                throw new AssertionError(event);
            }
        } catch (RdmaException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void resolve(CmId id) throws RdmaException {
        id.resolveAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 1), TIMEOUT);
    }

    private static int tasks() {
        return new File("/proc/self/task").list().length;
    }

    private static int carriers() {
        int carriers = 0;
        for (Thread thread : allPlatformThreads()) {
            carriers += thread.getName().startsWith("ForkJoinPool-1-worker") ? 1 : 0;
        }
        return carriers;
    }

    /** The group of this thread does not list the carriers. */
    private static List<Thread> allPlatformThreads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] found = new Thread[1000];
        int count = root.enumerate(found);
        return Arrays.asList(found).subList(0, count);
    }

    private static long heap() {
        Runtime runtime = Runtime.getRuntime();
        long used = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            used = Math.min(used, runtime.totalMemory() - runtime.freeMemory());
        }
        return used;
    }
}
