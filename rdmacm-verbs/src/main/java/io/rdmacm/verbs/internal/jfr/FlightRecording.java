// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.jfr;

import jdk.jfr.FlightRecorder;

/** Whether Java Flight Recorder is in use. */
public final class FlightRecording {
    private static final boolean AVAILABLE = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightRecording() {
    }

    /**
     * {@return whether the classes of events are to be loaded: this JVM has a recorder, and something has used it}
     *
     * <p>Loading them initialises the recorder, which loads some hundred classes of the JDK.
     */
    public static boolean inUse() {
        return AVAILABLE && FlightRecorder.isInitialized();
    }
}
