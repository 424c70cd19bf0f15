// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.Locale;

/** The sides of the comparison. */
public enum Side {
    /** This library, through its public methods. */
    JAVA("Java"),
    /** The same in C. */
    C("C"),
    /** A small JNI binding of the same calls, written for the comparison. */
    JNI("JNI"),
    /** DiSNI, a published JNI library; measured only if the environment names it. */
    DISNI("DiSNI"),
    /** The generated bindings, used in the naive way. */
    NAIVE("naive FFM"),
    /** The native calls alone, with one Java object for each object of C: the least that Java can cost. */
    CALLS("the calls alone"),
    /** The queues of the device used from Java, without a call. */
    DIRECT("without calls");

    private final String label;

    Side(String label) {
        this.label = label;
    }

    /** {@return the name for readers} */
    String label() {
        return label;
    }

    /** {@return the name in the results file} */
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Side of(String id) {
        return valueOf(id.toUpperCase(Locale.ROOT));
    }
}
