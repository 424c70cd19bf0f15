// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

/** Reports that the JVM was started without native access for this library. */
final class NativeAccess {
    private NativeAccess() {
    }

    /** Returns an exception whose message has the exact command line option to add. */
    static IllegalCallerException denied(IllegalCallerException cause) {
        return new IllegalCallerException("rdmacm may not call native code: start java with " + flag(), cause);
    }

    static String flag() {
        Module module = NativeAccess.class.getModule();
        return "--enable-native-access="
                + (module.isNamed() ? "io.rdmacm.bindings," + module.getName() : "ALL-UNNAMED");
    }
}
