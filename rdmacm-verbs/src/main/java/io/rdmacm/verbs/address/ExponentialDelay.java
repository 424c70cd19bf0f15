// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.time.Duration;
import java.util.Optional;

import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * A delay as InfiniBand encodes it: 4.096 microseconds times two to the power of a 5-bit code, from 4.096 microseconds
 * (code 0) to 2 hours 26 minutes (code 31). Used by {@link PortAttributes#subnetTimeout()} and
 * {@link DeviceAttributes#localAckDelay()}. An {@link AckTimeout} is encoded alike, but its code 0 means that it never
 * ends.
 *
 * @param code 0 to 31 in the specification; up to 255 because the fields of the C structs have 8 bits, and what a
 *        driver puts there is kept
 */
public record ExponentialDelay(int code) {
    /** The largest code that the specification defines. */
    static final int LAST_CODE = 31;
    private static final long UNIT_NANOS = 4_096;

    /**
     * Checks the code.
     *
     * @throws IllegalArgumentException when the code does not fit into 8 bits
     */
    public ExponentialDelay {
        Arguments.requireBits("code of a delay", code, Byte.SIZE);
    }

    /** Returns the delay; empty when the code is above 31, which the specification does not define. */
    public Optional<Duration> duration() {
        return code > LAST_CODE ? Optional.empty() : Optional.of(Duration.ofNanos(UNIT_NANOS << code));
    }

    @Override
    public String toString() {
        return duration().map(time -> time + " (code " + code + ")").orElse("undefined (code " + code + ")");
    }
}
