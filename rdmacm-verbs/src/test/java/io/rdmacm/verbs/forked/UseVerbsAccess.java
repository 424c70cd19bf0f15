// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.forked;

import io.rdmacm.verbs.internal.access.VerbsAccess;

/** Asks for the way into the objects of verbs as the first thing that it does with this library. */
public final class UseVerbsAccess {
    private UseVerbsAccess() {
    }

    /** Takes no arguments. */
    public static void main(String[] arguments) {
        VerbsAccess first = VerbsAccess.get();
        System.out.println("found twice: " + (first != null && VerbsAccess.get() == first));
    }
}
