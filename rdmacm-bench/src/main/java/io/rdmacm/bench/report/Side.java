// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.Locale;

/** The sides of the comparison. */
public enum Side {
    /** This library, through its public methods. */
    JAVA,
    /** The same in C. */
    C,
    /** A small JNI binding of the same calls, written for the comparison. */
    JNI,
    /** DiSNI, a published JNI library; measured only if the environment names it. */
    DISNI,
    /** The generated bindings, used in the naive way. */
    NAIVE,
    /** The native calls alone, with one Java object for each object of C: the least that Java can cost. */
    CALLS,
    /** The queues of the device used from Java, without a call. */
    DIRECT;

    /** {@return the name in the results file} */
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Side of(String id) {
        return valueOf(id.toUpperCase(Locale.ROOT));
    }
}
