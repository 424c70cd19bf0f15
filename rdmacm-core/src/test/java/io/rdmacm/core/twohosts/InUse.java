// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.core.Endpoint;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.testing.ResourceCounts;

/**
 * File descriptors, native objects and objects of the kernel in use on both hosts: after a test as many as before.
 *
 * @param here on this host
 * @param there on the other one
 */
record InUse(ResourceCounts here, String there) {
    private static final Duration PAUSE = Duration.ofMillis(200);
    // a kernel gives a connection up whose peer does not answer
    private static final Duration LIMIT = Duration.ofMinutes(5);

    /** What is in use before a test, without what is opened once and kept: by librdmacm, and by the JVM for sockets. */
    static InUse before() throws Exception {
        try (Line line = OtherHost.play(Warm.class);
                Endpoint endpoint = Endpoint.createPassive(OtherHost.here(), PortSpace.TCP, Server.attributes())) {
            endpoint.listen(1);
            line.hear();
        }
        // what the kernels still free is gone when nothing changes any more; no event tells
        long end = System.nanoTime() + LIMIT.toNanos();
        InUse last = null;
        InUse now = now();
        while (!now.equals(last)) {
            assertThat(System.nanoTime()).describedAs("%s, then %s", last, now).isLessThan(end);
            Thread.sleep(PAUSE);
            last = now;
            now = now();
        }
        return now;
    }

    private static InUse now() throws IOException, InterruptedException {
        String there;
        try (Line line = OtherHost.play(Count.class)) {
            there = line.hear();
        }
        return new InUse(ResourceCounts.now(), there);
    }

    /** Waits until it is so again. */
    void assertAgain() throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        InUse now = now();
        while (!now.equals(this) && System.nanoTime() < end) {
            Thread.sleep(PAUSE);
            now = now();
        }
        assertThat(now).isEqualTo(this);
    }

    /** Says what is in use. */
    static final class Count implements Role {
        @Override
        public void play(Line line, String... arguments) throws IOException {
            line.say(ResourceCounts.now());
        }
    }

    /** Opens what is kept. */
    static final class Warm implements Role {
        @Override
        public void play(Line line, String... arguments) throws IOException {
            try (Endpoint endpoint = Endpoint.createPassive(OtherHost.here(), PortSpace.TCP, Server.attributes())) {
                endpoint.listen(1);
            }
        }
    }
}
