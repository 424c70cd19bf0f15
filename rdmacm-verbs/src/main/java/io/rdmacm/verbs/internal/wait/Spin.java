// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

/** What a thread does between two polls, so that those that it waits for can work. */
public final class Spin {
    private static final boolean ONE_CPU = Runtime.getRuntime().availableProcessors() == 1;
    private static final int POLLS_PER_YIELD = 16;

    private Spin() {
    }

    /** Gives up the CPU if there is only one. */
    public static void pause() {
        if (ONE_CPU) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }

    /** Returns whether all other threads could run in a {@link #pause()}: then another one will hardly change more. */
    public static boolean hasLetAllRun() {
        return ONE_CPU;
    }

    /**
     * Gives up the CPU if there is only one, or else now and then.
     *
     * @param polls how many polls there were
     */
    public static void pause(int polls) {
        if (ONE_CPU || polls % POLLS_PER_YIELD == 0) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }
}
