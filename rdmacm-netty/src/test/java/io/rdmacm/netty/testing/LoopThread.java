// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty.testing;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.SingleThreadEventExecutor;

/** What the thread of an event loop is doing. */
public final class LoopThread {
    private static final Set<String> SLEEPING = Set.of("io.netty.channel.epoll.Native.epollWait",
            "io.rdmacm.netty.RdmaIoHandler.sleep");

    private LoopThread() {
    }

    /** Returns when the thread sleeps until there is something to do. */
    public static void awaitAsleep(EventLoop loop) {
        await(loop, SLEEPING);
    }

    /** Returns when the thread is inside a method. */
    public static void awaitInside(EventLoop loop, String method) {
        await(loop, Set.of(method));
    }

    private static void await(EventLoop loop, Set<String> methods) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Recorder.SECONDS);
        while (!isInside(loop, methods)) {
            if (System.nanoTime() > end) {
                throw new AssertionError(loop + " was never in " + methods);
            }
            Thread.yield();
        }
    }

    /** Returns how much of a second the thread was busy, from 0 to 1: a loop that is asleep when looked at may spin. */
    public static double busy(EventLoop loop) throws InterruptedException {
        long thread = ((SingleThreadEventExecutor) loop).threadProperties().id();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long before = threads.getThreadCpuTime(thread);
        loop.schedule(() -> { }, 1, TimeUnit.SECONDS).sync();
        return (threads.getThreadCpuTime(thread) - before) / (double) TimeUnit.SECONDS.toNanos(1);
    }

    /** Returns whether the thread sleeps until there is something to do. */
    public static boolean isAsleep(EventLoop loop) {
        return isInside(loop, SLEEPING);
    }

    private static boolean isInside(EventLoop loop, Set<String> methods) {
        for (StackTraceElement frame : ((SingleThreadEventExecutor) loop).threadProperties().stackTrace()) {
            if (methods.contains(frame.getClassName() + "." + frame.getMethodName())) {
                return true;
            }
        }
        return false;
    }
}
