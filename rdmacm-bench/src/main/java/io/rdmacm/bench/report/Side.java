// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.Locale;

/** Who was measured. */
public enum Side {
    /** This library, through its public methods. */
    JAVA,
    /** The same in C. */
    C,
    /** A JNI binding of the same calls. */
    JNI,
    /** The generated bindings, used without care. */
    NAIVE;

    /** {@return the name in the file of results} */
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Side of(String id) {
        return valueOf(id.toUpperCase(Locale.ROOT));
    }
}
