// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.jfr;

/** Whether this JVM has Java Flight Recorder. */
public final class FlightRecording {
    /** Whether the classes of events can be loaded. A constant, so that compiled code does not ask. */
    public static final boolean AVAILABLE = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightRecording() {
    }
}
