// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import com.google.gson.annotations.SerializedName;

/** The sides of the comparison. */
public enum Side {
    /** What Java is compared with. */
    @SerializedName("c")
    C("C"),
    /** This library, through its public methods. */
    @SerializedName("java")
    JAVA("Java"),
    /** The queues of the device used from Java, without a call. */
    @SerializedName("direct")
    DIRECT("without calls");

    private final String label;

    Side(String label) {
        this.label = label;
    }

    /** {@return the name for readers} */
    public String label() {
        return label;
    }
}
