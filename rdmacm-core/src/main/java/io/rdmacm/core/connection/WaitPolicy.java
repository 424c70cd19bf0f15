// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * How a thread waits for completions: it polls for a while, and then sleeps until the device raises an event. Polling
 * answers sooner but occupies a CPU; sleeping costs some system calls and a thread switch.
 *
 * <p>Between polls, a thread gives up the CPU if the machine has only one, so that the peer and the kernel can work.
 *
 * @param spin how long to poll before sleeping; zero to sleep at once
 */
public record WaitPolicy(Duration spin) {
    private static final WaitPolicy ALWAYS = new WaitPolicy(Duration.ofSeconds(Long.MAX_VALUE));
    private static final WaitPolicy NEVER = new WaitPolicy(Duration.ZERO);
    // On one CPU, a thread that spins keeps the peer and the kernel from what it waits for.
    private static final WaitPolicy DEFAULT = Runtime.getRuntime().availableProcessors() == 1
            ? NEVER : spinFor(Duration.ofNanos(20_000));

    /**
     * Checks the policy.
     *
     * @throws IllegalArgumentException when the duration is negative
     */
    public WaitPolicy {
        Objects.requireNonNull(spin, "spin");
        if (spin.isNegative()) {
            throw new IllegalArgumentException("spin is negative: " + spin);
        }
    }

    /**
     * Returns the policy to poll for some time, and then to sleep.
     *
     * @param spin how long to poll
     * @return the policy
     * @throws IllegalArgumentException when the duration is negative
     */
    public static WaitPolicy spinFor(Duration spin) {
        return new WaitPolicy(spin);
    }

    /** {@return the policy to poll and never to sleep: the lowest latency, for the price of a CPU} */
    public static WaitPolicy spinAlways() {
        return ALWAYS;
    }

    /** {@return the policy to sleep at once: the least CPU time} */
    public static WaitPolicy sleepAtOnce() {
        return NEVER;
    }

    /** {@return the default policy: poll for 20 microseconds, then sleep; sleep at once if there is only one CPU} */
    public static WaitPolicy defaults() {
        return DEFAULT;
    }

    /** Returns the nanoseconds to poll, at most 292 years. */
    long spinNanos() {
        return TimeUnit.NANOSECONDS.convert(spin);
    }
}
