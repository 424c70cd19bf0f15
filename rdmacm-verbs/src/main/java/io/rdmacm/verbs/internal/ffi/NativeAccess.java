// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

/** The answer to a JVM that was started without leave to call native code. */
final class NativeAccess {
    private NativeAccess() {
    }

    /** The exception of the JDK with the flag to add, exactly as it has to be written. */
    static IllegalCallerException denied(IllegalCallerException cause) {
        return new IllegalCallerException("rdmacm may not call native code: start java with " + flag(), cause);
    }

    static String flag() {
        Module module = NativeAccess.class.getModule();
        return "--enable-native-access="
                + (module.isNamed() ? "io.rdmacm.bindings," + module.getName() : "ALL-UNNAMED");
    }
}
