// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

/** Stands in for the class of this name: what two peers have agreed on that have the same settings. */
record MessageLink(AgreedSizes peerSizes) {
    boolean takesLargeMessages() {
        return true;
    }

    int responderResources() {
        return 1;
    }
}
