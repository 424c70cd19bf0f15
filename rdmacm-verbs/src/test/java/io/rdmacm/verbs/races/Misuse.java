// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.races;

import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.testing.FakeVerbs;

/** What the stand-in for libibverbs saw being done to its objects. */
public final class Misuse {
    private enum Kind {
        USED_AFTER_FREE, FREED_IN_USE, USED_TOGETHER, FREED_TWICE, WRITTEN_AFTER_FREE
    }

    private Misuse() {
    }

    /** All of it; empty when there was none. */
    public static String found() {
        StringBuilder text = new StringBuilder();
        for (Kind kind : Kind.values()) {
            long times = FakeVerbs.call("fake_misuses", kind.ordinal());
            if (times != 0) {
                text.append(kind).append(' ').append(times).append(" times, last by ")
                        .append(Memory.string(FakeVerbs.call("fake_misused_by", kind.ordinal()))).append("; ");
            }
        }
        return text.toString();
    }
}
