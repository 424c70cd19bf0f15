// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeVerbs;

/** Closes what virtual threads wait for while they cannot run. With a single carrier. */
public final class CloseWithBusyCarriers {
    private static final Duration LONG = Duration.ofMinutes(10);

    private static final List<Background<?>> WAITING = new ArrayList<>();

    private CloseWithBusyCarriers() {
    }

    /** Prints what did not hang. */
    public static void main(String[] arguments) throws Exception {
        VerbsContext context = Device.list().getFirst().open();
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue queue = context.createCompletionQueue(16, channel);
        // one of each kind leads, the other follows
        for (int i = 0; i < 2; i++) {
            start(() -> queue.await(WorkCompletions.allocate(1), LONG));
            start(() -> channel.getEvent(LONG));
            start(() -> channel.pollEvent(LONG));
            start(() -> context.getAsyncEvent(LONG));
        }
        CountDownLatch busy = new CountDownLatch(1);
        Background<Void> spinning = Background.virtual(() -> {
            busy.countDown();
            while (!Thread.interrupted()) {
                Thread.onSpinWait();
            }
            return null;
        });
        busy.await();
        queue.close();
        System.out.println("the queue is closed");
        channel.close();
        System.out.println("the channel is closed");
        context.close();
        System.out.println("the context is closed");
        FakeVerbs.reset();
        spinning.interrupt();
        for (Background<?> waiting : WAITING) {
            try {
                waiting.result();
                System.out.println("not refused");
            } catch (RdmaClosedException e) {
                // as a thread that a close has found awake
            }
        }
        System.out.println("called later: " + FakeVerbs.functions());
    }

    private static void start(Callable<?> wait) {
        WAITING.add(Background.virtual(wait).awaitAsleep());
    }
}
