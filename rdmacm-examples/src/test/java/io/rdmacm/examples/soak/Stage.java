// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;

/** What one worker's acts share. For one worker, and the helpers that it asks for. */
final class Stage implements Closeable {
    private static final long MOST_DELAY = 5000;

    private final InetAddress address;
    private final Tally tally;
    private final Duration patience;
    private final ExecutorService helpers = Executors.newCachedThreadPool(Thread.ofPlatform().name("helper-", 0)
            .factory());
    private final LinkedHashMap<Class<?>, Closeable> kept = new LinkedHashMap<>();

    /**
     * A stage.
     *
     * @param address of the device
     * @param patience how long a thing may take that must happen; shorter than what the watchdog calls a hang
     */
    Stage(InetAddress address, Tally tally, Duration patience) {
        this.address = address;
        this.tally = tally;
        this.patience = patience;
    }

    /** Something that can fail. */
    @FunctionalInterface
    interface Part {
        void play() throws Exception;
    }

    /** The address of the device, with any port. */
    InetSocketAddress anyPort() {
        return new InetSocketAddress(address, 0);
    }

    Tally tally() {
        return tally;
    }

    Duration patience() {
        return patience;
    }

    /** What is made once and used by many acts; closed with the stage. */
    <T extends Closeable> T kept(Class<T> type, Callable<T> maker) throws Exception {
        Closeable found = kept.get(type);
        if (found == null) {
            found = maker.call();
            kept.put(type, found);
        }
        return type.cast(found);
    }

    /** Starts a part in another thread. */
    <T> Future<T> begin(Callable<T> part) {
        return helpers.submit(part);
    }

    /** Plays two parts at once: one in another thread, one in this. When this one fails, the other is interrupted. */
    void together(Part other, Part own) throws Exception {
        Future<Void> played = begin(() -> {
            other.play();
            return null;
        });
        try {
            own.play();
        } catch (Exception e) {
            if (played.state() == Future.State.FAILED) {
                e.addSuppressed(played.exceptionNow());
            }
            played.cancel(true);
            throw e;
        }
        result(played);
    }

    /** The result of a part; what it threw is thrown here. */
    <T> T result(Future<T> part) throws Exception {
        try {
            return part.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception exception) {
                throw exception;
            }
            throw new LossException("a part failed", e.getCause());
        } catch (TimeoutException e) {
            throw new LossException("a part does not end");
        }
    }

    /** Plays what must fail with an exception, and returns it. */
    static <E extends Exception> E failing(Class<E> expected, Part part) throws LossException {
        return expected.cast(failingAny(part, expected));
    }

    /** Plays what must fail with one of some exceptions, and returns it. */
    @SafeVarargs
    static Exception failingAny(Part part, Class<? extends Exception>... expected) throws LossException {
        try {
            part.play();
        } catch (Exception e) {
            for (Class<? extends Exception> type : expected) {
                if (type.isInstance(e)) {
                    return e;
                }
            }
            throw new LossException("a fault was seen as something else", e);
        }
        throw new LossException("a fault was not seen");
    }

    /** Interrupts this thread, soon. */
    Future<Void> interruptSoon(RandomGenerator random) {
        Thread self = Thread.currentThread();
        return soon(random, self::interrupt);
    }

    /** Plays a part in another thread, soon: while this one waits, or just before. */
    Future<Void> soon(RandomGenerator random, Part part) {
        long delay = random.nextLong(MOST_DELAY);
        return begin(() -> {
            TimeUnit.MICROSECONDS.sleep(delay);
            part.play();
            return null;
        });
    }

    /** Ends the helpers' threads, and closes what was kept. */
    @Override
    public void close() throws IOException {
        helpers.shutdownNow();
        helpers.close();
        for (Closeable object : kept.sequencedValues().reversed()) {
            object.close();
        }
    }
}
