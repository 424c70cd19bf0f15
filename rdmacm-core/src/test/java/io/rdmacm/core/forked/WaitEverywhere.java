// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.testing.EndpointPair;
import io.rdmacm.core.testing.EndpointWait;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.PinnedThreads;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/**
 * Virtual threads wait in every public wait, several in each that allows it, all on a single carrier. When all of them
 * wait, a virtual thread still runs. Then all are interrupted. Prints the methods and the number of pinned threads.
 */
public final class WaitEverywhere {
    private static final Duration LONG = Duration.ofDays(1);
    private static final int THREADS = 5;

    private WaitEverywhere() {
    }

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        Map<String, Background.Action> waits = new TreeMap<>();
        Map<String, Background.Action> single = new TreeMap<>();
        objects(waits);
        for (Map.Entry<String, EndpointWait.Maker> entry : EndpointWait.ALL.entrySet()) {
            EndpointWait wait = entry.getValue().make();
            (entry.getKey().startsWith("get") ? waits : single).put("Endpoint." + entry.getKey(),
                    () -> wait.run(LONG));
        }
        // this also initialises classes, for which a virtual thread would keep its carrier
        inPlatformThread();
        Queue<Throwable> ends = new ConcurrentLinkedQueue<>();
        try (PinnedThreads pinned = PinnedThreads.record()) {
            CountDownLatch progress = new CountDownLatch(1);
            Queue<Thread> threads = new ConcurrentLinkedQueue<>();
            single.forEach((name, wait) -> threads.add(start(wait, ends)));
            for (int i = 0; i < THREADS; i++) {
                waits.forEach((name, wait) -> threads.add(start(wait, ends)));
            }
            for (Thread thread : threads) {
                awaitWaiting(thread, ends);
            }
            Background.virtual(() -> {
                endOfItself();
                progress.countDown();
                return null;
            }).result();
            System.out.println(progress.await(LONG.toSeconds(), TimeUnit.SECONDS) ? "progress" : "no progress");
            threads.forEach(Thread::interrupt);
            for (Thread thread : threads) {
                thread.join();
            }
            for (Throwable end : ends) {
                if (!(end instanceof InterruptedException)) {
                    throw new AssertionError(end);
                }
            }
            System.out.println("pinned: " + pinned.count());
        }
        waits.keySet().forEach(name -> System.out.println("waited: " + name));
        single.keySet().forEach(name -> System.out.println("waited: " + name));
        List.of("create", "createActive", "resolveAddress", "resolveRoute").forEach(
                name -> System.out.println("waited: Endpoint." + name));
        System.exit(0);
    }

    private static void objects(Map<String, Background.Action> waits) throws Exception {
        EventChannel events = EventChannel.open();
        EventChannel polled = EventChannel.open();
        Loopback loopback = new Loopback();
        VerbsContext context = Device.list().stream().filter(
                device -> device.name().equals(RdmaTestDevice.get().name())).findFirst().orElseThrow().open();
        CompletionChannel channel = context.createCompletionChannel();
        CompletionChannel polledCompletions = context.createCompletionChannel();
        CompletionQueue queue = context.createCompletionQueue(1, context.createCompletionChannel());
        ExtendedCompletionQueue extended = context.createExtendedCompletionQueue(
                CompletionQueueInitAttributes.builder(8).channel(context.createCompletionChannel()).build());
        waits.put("EventChannel.getEvent", () -> events.getEvent(LONG));
        waits.put("EventChannel.pollEvent", () -> polled.pollEvent(LONG));
        waits.put("EventChannel.await", () -> loopback.channel.await(loopback.listener, CmEventType.CONNECT_REQUEST,
                LONG));
        waits.put("VerbsContext.getAsyncEvent", () -> context.getAsyncEvent(LONG));
        waits.put("CompletionChannel.getEvent", () -> channel.getEvent(LONG));
        waits.put("CompletionChannel.pollEvent", () -> polledCompletions.pollEvent(LONG));
        waits.put("CompletionQueue.await", () -> queue.await(WorkCompletions.allocate(1), LONG));
        waits.put("ExtendedCompletionQueue.awaitPoll", () -> extended.awaitPoll(LONG));
    }

    private static void inPlatformThread() throws Exception {
        Background.run(WaitEverywhere::endOfItself).result();
    }

    /** The waits for something that happens soon. */
    private static void endOfItself() throws Exception {
        try (Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults())) {
            AddressInfo info = AddressInfo.resolve(listener.localAddress().getAddress().getHostAddress(),
                    Integer.toString(listener.localAddress().getPort()),
                    AddressInfo.Hints.active(PortSpace.TCP)).getFirst();
            Endpoint.create(info, EndpointAttributes.defaults(), Loopback.TIMEOUT).close();
            Endpoint.createActive(listener.localAddress(), PortSpace.TCP, EndpointAttributes.defaults(),
                    Loopback.TIMEOUT).close();
        }
    }

    private static Thread start(Background.Action wait, Queue<Throwable> ends) {
        return Thread.ofVirtual().start(() -> {
            try {
                wait.run();
                ends.add(new AssertionError("it ended"));
            } catch (Exception e) {
                ends.add(e);
            }
        });
    }

    private static void awaitWaiting(Thread thread, Queue<Throwable> ends) {
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
            if (!ends.isEmpty()) {
                throw new AssertionError(ends.peek());
            }
            Thread.yield();
        }
    }
}
