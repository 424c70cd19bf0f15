// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import io.rdmacm.verbs.testing.OtherClassLoader;

/** Uses the library in a class loader of its own, until nothing refers to that any more. */
public final class DropClassLoader {
    private DropClassLoader() {
    }

    /** The argument: an address of this machine. */
    public static void main(String[] args) throws Exception {
        OtherClassLoader.runAndDrop(UseOnce.class, args);
        System.out.println("dropped");
    }
}
