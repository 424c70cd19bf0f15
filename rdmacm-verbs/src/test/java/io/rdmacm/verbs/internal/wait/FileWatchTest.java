// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.forked.WaitInVirtualThreads;
import io.rdmacm.verbs.forked.WaitOnce;
import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.OtherClassLoader;
import org.junit.jupiter.api.Test;

/** The watch of files for virtual threads: many at once, races, and that no carrier is kept. */
class FileWatchTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int THREADS = 500;
    private static final int ROUNDS = 2_000;

    @Test
    void eachOfManyThreadsIsWokenByItsFile() throws Exception {
        List<Integer> files = new ArrayList<>();
        List<Poller> pollers = new ArrayList<>();
        List<Background<Integer>> waiting = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int file = Libc.eventfd();
            Poller poller = new Poller(file);
            files.add(file);
            pollers.add(poller);
            waiting.add(Background.virtual(() -> {
                poller.await(LONG.toNanos());
                return file;
            }));
        }
        for (Background<Integer> each : waiting) {
            each.awaitInside(ParkSleep.class, "run").awaitWaiting();
        }
        // one wakes one
        for (int i = THREADS - 1; i >= 0; i--) {
            assertThat(waiting.get(i).isDone()).isFalse();
            Libc.signal(files.get(i));
            assertThat(waiting.get(i).result()).isEqualTo(files.get(i));
            pollers.get(i).close();
            Libc.close(files.get(i));
        }
        assertThat(Thread.getAllStackTraces().keySet()).filteredOn(thread ->
                thread.getName().equals("rdmacm-file-watch")).singleElement().matches(Thread::isDaemon);
    }

    /** Wakes and events come at any moment, files are closed and their numbers used again, and no wait is missed. */
    @Test
    void noEventIsLostInARace() throws Exception {
        int players = 8;
        CountDownLatch done = new CountDownLatch(players);
        Queue<Exception> failures = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < players; i++) {
            Thread.ofVirtual().start(() -> {
                try {
                    for (int round = 0; round < ROUNDS; round++) {
                        race(round);
                    }
                } catch (RdmaException | InterruptedException e) {
                    failures.add(e);
                } finally {
                    done.countDown();
                }
            });
        }
        assertThat(done.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(failures).isEmpty();
    }

    /** Another thread makes the file readable, or wakes the poller, while this one begins to wait. */
    private static void race(int round) throws RdmaException, InterruptedException {
        int file = Libc.eventfd();
        Poller poller = new Poller(file);
        Semaphore signalled = new Semaphore(0);
        Thread.ofVirtual().start(() -> {
            try {
                if (round % 3 == 0) {
                    poller.wake();
                } else {
                    Libc.signal(file);
                }
            } catch (RdmaException e) {
                throw new AssertionError(e);
            } finally {
                signalled.release();
            }
        });
        poller.await(LONG.toNanos());
        signalled.acquire();
        poller.close();
        Libc.close(file);
    }

    @Test
    void aFileThatIsAlwaysReadableEndsTheWaitAtOnce() throws Exception {
        Path path = Files.createTempFile("always", "readable");
        try (RandomAccessFile open = new RandomAccessFile(path.toFile(), "r")) {
            assertThat(open.length()).isZero();
            int fd = fileDescriptor(path);
            Background.virtual(() -> {
                new Poller(fd).await(LONG.toNanos());
                return null;
            }).result();
        } finally {
            Files.delete(path);
        }
    }

    private static int fileDescriptor(Path path) throws Exception {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            for (Path link : files.toList()) {
                if (Files.exists(link) && Files.isSameFile(link, path)) {
                    return Integer.parseInt(link.getFileName().toString());
                }
            }
        }
        throw new AssertionError(path + " is not open");
    }

    @Test
    void allWatchersAreToldThatTheWatchHasFailed() throws Exception {
        int file = Libc.eventfd();
        RdmaException reason = new RdmaException("test", "it failed");
        ParkSleep sleep = new ParkSleep(new int[] {file});
        sleep.failed(reason);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> sleep.run(LONG.toNanos()))
                .isSameAs(reason);
        Libc.close(file);
    }

    /** Notes what it is told; the first word is lost for want of memory. */
    private static final class Noting implements FileWatch.Watcher {
        private final CountDownLatch told = new CountDownLatch(1);
        private boolean failing;

        Noting(boolean failing) {
            this.failing = failing;
        }

        @Override
        public void ready() {
            if (failing) {
                failing = false;
                throw new OutOfMemoryError("in a test");
            }
            told.countDown();
        }

        @Override
        public void failed(RdmaException reason) {
            told.countDown();
        }
    }

    @Test
    void anErrorKeepsNobodyWaiting() throws Exception {
        int file = Libc.eventfd();
        List<Noting> watchers = List.of(new Noting(true), new Noting(false));
        FileWatch watch = FileWatch.get();
        for (Noting watcher : watchers) {
            assertThat(watch.add(file, watcher)).isTrue();
        }
        Libc.signal(file);
        for (Noting watcher : watchers) {
            assertThat(watcher.told.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
        Libc.close(file);
    }

    @Test
    void aPermitThatIsLeftOverEndsNoWait() throws Exception {
        int file = Libc.eventfd();
        Poller poller = new Poller(file);
        try (Background<Void> waiting = Background.virtual(() -> {
            LockSupport.unpark(Thread.currentThread());
            poller.await(LONG.toNanos());
            return null;
        })) {
            waiting.awaitInside(ParkSleep.class, "run").awaitWaiting();
            Libc.signal(file);
            waiting.result();
        }
        poller.close();
        Libc.close(file);
    }

    /** The thread ends when it has nothing to do, and closes its file. */
    @Test
    void aClassLoaderThatUsedItIsCollected() throws Exception {
        long before = epollFiles();
        OtherClassLoader.runAndDrop(WaitOnce.class);
        assertThat(epollFiles()).isLessThanOrEqualTo(before);
    }

    private static long epollFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.filter(FileWatchTest::isEpoll).count();
        }
    }

    private static boolean isEpoll(Path link) {
        try {
            return Files.readSymbolicLink(link).toString().equals("anon_inode:[eventpoll]");
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    @Test
    void noCarrierIsKept() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(WaitInVirtualThreads.class).nativeAccess()
                .property("jdk.virtualThreadScheduler.parallelism", "1")
                .property("jdk.virtualThreadScheduler.maxPoolSize", "1").run();
        assertThat(result.errors()).isEmpty();
        assertThat(result.output().lines()).contains("all were woken", "pinned: 0");
        assertThat(result.status()).isZero();
    }
}
