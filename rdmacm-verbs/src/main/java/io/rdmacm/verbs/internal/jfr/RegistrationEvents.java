// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.jfr;

import java.util.Set;

/** Records the registrations of memory. */
public final class RegistrationEvents {
    private RegistrationEvents() {
    }

    /** {@return the event of a registration that begins now, null if it is not recorded} */
    public static Object begin() {
        return FlightRecording.inUse() ? RegistrationEvent.start() : null;
    }

    /**
     * Records a registration that has succeeded.
     *
     * @param event from {@link #begin}
     * @param address the address for the device
     * @param length in bytes
     * @param access the access flags
     */
    public static void end(Object event, long address, long length, Set<? extends Enum<?>> access) {
        if (event != null) {
            RegistrationEvent.finish(event, address, length, access);
        }
    }
}
