// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.RdmaDevices;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.ResourceCounts;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * A program that has too little: of locked memory, of threads, of open files, of permissions. It prints what it was
 * told and "fine" at the end; anything unexpected ends it with an exception.
 */
public final class Limited {
    private static final Duration TIMEOUT = Duration.ofMinutes(4);
    private static final int MOST_FREE = 12;
    private static final int MOST_FREE_AT_THE_START = 32;

    private Limited() {
    }

    /** Runs what the first argument names. */
    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "memory" -> {
                memory();
                connections();
            }
            case "permissions" -> permissions();
            case "threads" -> threads();
            case "files" -> files();
            case "filesWhenAccepting" -> filesWhenAccepting();
            case "filesAtTheStart" -> filesAtTheStart();
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("fine");
    }

    private static VerbsContext openDevice() throws RdmaException {
        return Device.list().stream().filter(device -> device.name().equals(RdmaTestDevice.get().name())).findFirst()
                .orElseThrow().open();
    }

    /** Something that may be refused. */
    @FunctionalInterface
    private interface Attempt {
        AutoCloseable make() throws Exception;
    }

    private static RdmaException refused(Attempt attempt) throws Exception {
        Measured attempted = Measured.fromNow();
        try {
            attempt.make().close();
        } catch (RdmaException e) {
            attempted.print("refused with " + e.errnoName());
            System.out.println(e);
            return e;
        }
        throw new AssertionError("it was not refused");
    }

    private static void memory() throws Exception {
        try (VerbsContext context = openDevice(); ProtectionDomain domain = context.allocateProtectionDomain();
                MemoryRegion small = domain.allocate(16384, AccessFlag.LOCAL_WRITE)) {
            ResourceCounts before = ResourceCounts.now();
            for (int i = 0; i < 100; i++) {
                refused(() -> domain.allocate(1 << 20, AccessFlag.LOCAL_WRITE));
            }
            expectEqual(ResourceCounts.await(before, TIMEOUT), before);
            small.memory().fill((byte) 1);
            domain.allocate(16384).close();
        }
    }

    /** The defaults take more than is allowed; then a connection is made with less. */
    private static void connections() throws Exception {
        InetSocketAddress any = new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0);
        ConnectionSettings modest = ConnectionSettings.builder().messageSize(64).receiveBuffers(4).sendBuffers(4)
                .build();
        ResourceCounts before = ResourceCounts.now();
        try (ConnectionManager manager = ConnectionManager.open(); Listener listener = manager.listen(any, 8, modest)) {
            exchange(manager, listener, modest);
            for (int i = 0; i < 3; i++) {
                refused(() -> manager.connect(listener.address(), TIMEOUT));
            }
            exchange(manager, listener, modest);
        }
        ResourceCounts after = ResourceCounts.await(
                now -> now.objects() == before.objects() && now.files() <= before.files() + 8, TIMEOUT);
        expectEqual(after.objects(), before.objects());
    }

    /** There is a loop, but no thread for it. */
    private static void threads() throws Exception {
        ResourceCounts before = ResourceCounts.now();
        try (ConnectionManager manager = ConnectionManager.open(); Listener listener = manager.listen(
                new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0), 8, ConnectionSettings.defaults())) {
            ConnectionSettings driven = ConnectionSettings.builder()
                    .loops(manager.startLoops(LoopSettings.defaults())).build();
            CountDownLatch end = new CountDownLatch(1);
            List<Thread> threads = asManyAsThereMayBe(end);
            refused(() -> manager.connect(listener.address(), driven, TIMEOUT));
            end.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
            exchange(manager, listener, driven);
        }
        ResourceCounts after = ResourceCounts.await(now -> now.objects() == before.objects(), TIMEOUT);
        expectEqual(after.objects(), before.objects());
    }

    private static List<Thread> asManyAsThereMayBe(CountDownLatch end) {
        List<Thread> threads = new ArrayList<>();
        try {
            while (true) {
                threads.add(Thread.ofPlatform().daemon().start(() -> await(end)));
            }
        } catch (OutOfMemoryError e) {
            return threads;
        }
    }

    private static void await(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void exchange(ConnectionManager manager, Listener listener, ConnectionSettings settings)
            throws Exception {
        try (Background<Connection> connecting = Background.call(
                () -> manager.connect(listener.address(), settings, TIMEOUT));
                Connection server = listener.accept(TIMEOUT); Connection client = connecting.result()) {
            client.send("hello".getBytes(StandardCharsets.US_ASCII), TIMEOUT);
            try (Message message = server.receive(TIMEOUT)) {
                expectEqual(new String(message.toArray(), StandardCharsets.US_ASCII), "hello");
            }
        }
    }

    private static void permissions() throws Exception {
        refused(EventChannel::open);
        refused(() -> Endpoint.open(PortSpace.TCP));
        refused(ConnectionManager::open);
        refused(Limited::openDevice);
        // C leaves out what it cannot open
        expectEqual(RdmaDevices.list(), List.of());
        expectEqual(ResourceCounts.now().objects(), 0L);
    }

    /** Files that are open for nothing but to be too many. */
    private static final class Fillers {
        private final Deque<RandomAccessFile> files = new ArrayDeque<>();

        void fill() throws IOException {
            try {
                while (true) {
                    files.push(new RandomAccessFile("/dev/null", "r"));
                }
            } catch (IOException e) {
                if (!e.getMessage().contains("Too many open files")) {
                    throw e;
                }
            }
        }

        void free(int count) throws IOException {
            for (int i = 0; i < count; i++) {
                files.pop().close();
            }
        }

        void freeAll() throws IOException {
            free(files.size());
        }
    }

    private static void files() throws Exception {
        InetSocketAddress any = new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0);
        Map<String, Attempt> attempts = new LinkedHashMap<>();
        Fillers fillers = new Fillers();
        try (VerbsContext context = openDevice(); ConnectionManager manager = ConnectionManager.open();
                Listener listener = manager.listen(any)) {
            attempts.put("event channel", EventChannel::open);
            attempts.put("context", Limited::openDevice);
            attempts.put("completion channel", context::createCompletionChannel);
            attempts.put("endpoint", () -> Endpoint.open(PortSpace.TCP));
            attempts.put("active endpoint", () -> Endpoint.createActive(listener.address(), PortSpace.TCP,
                    EndpointAttributes.defaults(), TIMEOUT));
            attempts.put("manager", ConnectionManager::open);
            attempts.put("listening manager", () -> {
                ConnectionManager other = ConnectionManager.open();
                try {
                    other.listen(any);
                } catch (RdmaException e) {
                    other.close();
                    throw e;
                }
                return other;
            });
            for (Map.Entry<String, Attempt> attempt : attempts.entrySet()) {
                // what is opened once and kept
                attempt.getValue().make().close();
                List<Integer> failed = failures(attempt.getValue(), fillers);
                System.out.println(attempt.getKey() + " fails with so many free files: " + failed);
                if (failed.isEmpty() || failed.size() == MOST_FREE) {
                    throw new AssertionError(attempt.getKey() + " takes no files, or cannot be had at all");
                }
            }
            exchange(manager, listener, ConnectionSettings.defaults());
        }
    }

    private static List<Integer> failures(Attempt attempt, Fillers fillers) throws Exception {
        ResourceCounts before = ResourceCounts.now();
        int files = openFiles();
        List<Integer> failed = new ArrayList<>();
        for (int free = 0; free < MOST_FREE; free++) {
            fillers.fill();
            fillers.free(free);
            String told = null;
            try {
                attempt.make().close();
            } catch (RdmaException e) {
                failed.add(free);
                told = e.errnoName().equals("EMFILE") && e.getMessage().contains("ulimit -n") ? null : e.toString();
            } finally {
                fillers.freeAll();
            }
            if (told != null) {
                throw new AssertionError("with " + free + " files free it was told " + told);
            }
            if (openFiles() > files) {
                throw new AssertionError(free + " files free, " + files + " open ones became " + openFiles());
            }
        }
        expectEqual(ResourceCounts.await(before, TIMEOUT), before);
        return failed;
    }

    private static void filesWhenAccepting() throws Exception {
        Fillers fillers = new Fillers();
        try (ConnectionManager manager = ConnectionManager.open();
                Listener listener = manager.listen(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
                EventChannel channel = EventChannel.open()) {
            // what is opened once and kept, also by a wait that comes to sleep
            exchange(manager, listener, ConnectionSettings.defaults());
            channel.pollEvent(Duration.ofMillis(20));
            for (int i = 0; i < 3; i++) {
                try (End client = new End(Loopback.resolved(channel, listener.address()))) {
                    fillers.fill();
                    client.id.connect(ConnectionParameters.defaults());
                    RdmaException told = refused(() -> listener.accept(TIMEOUT));
                    expectEqual(told.errnoName(), "EMFILE");
                    try {
                        channel.await(client.id, CmEventType.ESTABLISHED, TIMEOUT).close();
                        throw new AssertionError("the client was accepted");
                    } catch (RejectedException e) {
                        System.out.println(e);
                    }
                } finally {
                    fillers.freeAll();
                }
                exchange(manager, listener, ConnectionSettings.defaults());
            }
        }
    }

    private static int openFiles() {
        return new File("/proc/self/fd").list().length;
    }

    /** Not even the libraries can be opened; later they can. */
    private static void filesAtTheStart() throws Exception {
        Fillers fillers = new Fillers();
        RdmaTestDevice.get();
        // the jars that are opened when a class of theirs is first needed are not the library's business
        Class.forName(EventChannel.class.getName());
        for (int free = 0; free < MOST_FREE_AT_THE_START; free++) {
            fillers.fill();
            fillers.free(free);
            try {
                EventChannel.open().close();
                openDevice().close();
                expectEqual(free > 0, true);
            } catch (NativeLibraryException e) {
                expectEqual(e.getMessage().contains("ulimit -n"), true);
            } finally {
                fillers.freeAll();
            }
        }
        EventChannel.open().close();
        openDevice().close();
    }

    private static void expectEqual(Object actual, Object expected) {
        if (!actual.equals(expected)) {
            throw new AssertionError(actual + " instead of " + expected);
        }
    }
}
