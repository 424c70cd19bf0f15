// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.util.Random;

/** What tests that choose at random begin with: {@code -Dseed=N}, or else the same in every run. */
public final class Seed {
    /** What was asked for; null if nothing was. */
    static final Long GIVEN = Long.getLong("seed");

    private Seed() {
    }

    /** Choices that begin with the given seed, or with that of every run. */
    public static Random random(long usual) {
        return new Random(GIVEN == null ? usual : GIVEN);
    }
}
