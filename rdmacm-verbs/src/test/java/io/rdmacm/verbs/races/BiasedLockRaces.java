// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.races;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.internal.life.LockGroup;

/** The lock of the data path alone: nobody is inside after a close, and never two. */
public final class BiasedLockRaces implements Races {
    // How often a user looks whether the queue is gone: longer than an unsafe close needs to go on.
    private static final int INSIDE = 300;

    private final AtomicInteger late = new AtomicInteger();
    private final AtomicInteger together = new AtomicInteger();

    /** A queue without a C object: only whether it is gone. */
    private static final class Queue {
        private static final VarHandle GONE;
        private static final VarHandle BUSY;

        static {
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                GONE = lookup.findVarHandle(Queue.class, "gone", boolean.class);
                BUSY = lookup.findVarHandle(Queue.class, "busy", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        private final BiasedLock lock = new BiasedLock("queue");
        // Opaque, for the race to be about the lock and not about what it protects.
        private boolean gone;
        private boolean busy;
    }

    /** Two queues whose posts read an object, which is freed while nobody looks at it. */
    private static final class Sharing {
        private final Queue one = new Queue();
        private final Queue other = new Queue();
        private final LockGroup group = new LockGroup();
        private final AtomicBoolean closed = new AtomicBoolean();
        private final AtomicBoolean freed = new AtomicBoolean();

        Sharing() {
            group.add(one.lock);
            group.add(other.lock);
        }

        void free() {
            closed.setOpaque(true);
            group.await();
            freed.setOpaque(true);
        }
    }

    private void look(Sharing at, Queue queue) {
        look(at, queue, queue.lock.enter());
    }

    /** As a queue that has changed hands too often does, or a call that may call back. */
    private void lookLocked(Sharing at, Queue queue) {
        look(at, queue, queue.lock.enterExclusive());
    }

    private void look(Sharing at, Queue queue, Bias bias) {
        try {
            if (at.closed.getOpaque()) {
                throw new IllegalStateException("closed");
            }
            boolean seen = false;
            for (int i = 0; i < INSIDE; i++) {
                seen |= at.freed.getOpaque();
            }
            if (seen) {
                late.incrementAndGet();
            }
        } finally {
            queue.lock.leave(bias);
        }
    }

    private void use(Queue queue) {
        Bias bias = queue.lock.enter();
        try {
            boolean seen = false;
            for (int i = 0; i < INSIDE; i++) {
                seen |= (boolean) Queue.GONE.getOpaque(queue);
            }
            if (seen) {
                late.incrementAndGet();
            }
        } finally {
            queue.lock.leave(bias);
        }
    }

    private void useAlone(Queue queue) {
        Bias bias = queue.lock.enter();
        try {
            if ((boolean) Queue.BUSY.getOpaque(queue) || (boolean) Queue.GONE.getOpaque(queue)) {
                together.incrementAndGet();
            }
            Queue.BUSY.setOpaque(queue, true);
            for (int i = 0; i < INSIDE; i++) {
                if ((boolean) Queue.GONE.getOpaque(queue)) {
                    late.incrementAndGet();
                }
            }
            Queue.BUSY.setOpaque(queue, false);
        } finally {
            queue.lock.leave(bias);
        }
    }

    private static void close(Queue queue) {
        queue.lock.close();
        Queue.GONE.setOpaque(queue, true);
    }

    @Override
    public List<Race<?>> all() {
        return List.of(
                Race.of("BiasedLock use/close", Queue::new).use(this::use).close(BiasedLockRaces::close),
                Race.of("BiasedLock use/use/close", Queue::new).use(this::useAlone).use(this::useAlone)
                        .close(BiasedLockRaces::close),
                Race.of("BiasedLock use/awaitQuiescence/close", Queue::new).use(this::use)
                        .use(queue -> {
                            queue.lock.awaitQuiescence();
                            if ((boolean) Queue.GONE.getOpaque(queue)) {
                                throw new IllegalStateException("closed");
                            }
                        })
                        .close(BiasedLockRaces::close),
                Race.of("LockGroup look/free", Sharing::new).use(at -> look(at, at.one)).close(Sharing::free),
                Race.of("LockGroup lookLocked/free", Sharing::new).use(at -> lookLocked(at, at.one))
                        .close(Sharing::free),
                Race.of("LockGroup look/look/look/free", Sharing::new).use(at -> look(at, at.one))
                        .use(at -> look(at, at.one)).use(at -> look(at, at.other)).close(Sharing::free),
                Race.of("BiasedLock use/close/close", Queue::new).use(this::use).close(BiasedLockRaces::close)
                        .close(BiasedLockRaces::close));
    }

    @Override
    public String misuse() {
        return late.get() == 0 && together.get() == 0 ? ""
                : late + " times inside after a close, " + together + " times two inside";
    }

    @Override
    public void close() {
        // nothing was opened
    }
}
