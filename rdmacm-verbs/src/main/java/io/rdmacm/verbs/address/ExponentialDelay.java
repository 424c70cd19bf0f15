// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.time.Duration;
import java.util.Optional;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * A delay as InfiniBand encodes it: 5-bit code <i>n</i> stands for 4.096 microseconds × 2<sup><i>n</i></sup>, from
 * 4.096 microseconds (code 0) to 2 hours 26 minutes (code 31). Used by
 * {@link io.rdmacm.verbs.device.PortAttributes#subnetTimeout PortAttributes.subnetTimeout} and
 * {@link io.rdmacm.verbs.device.DeviceAttributes#localAckDelay DeviceAttributes.localAckDelay}. {@link AckTimeout} uses
 * the same encoding, except that its code 0 means forever.
 *
 * @param code the code used by C: 0 to 31 in the specification; up to 255 are allowed because the fields of the C
 *        structs have 8 bits, so that whatever a driver reports can be represented
 */
public record ExponentialDelay(int code) {
    /** The largest code that the specification defines. */
    static final int LAST_CODE = 31;
    private static final long UNIT_NANOS = 4_096;

    /**
     * Checks the code.
     *
     * @throws IllegalArgumentException if the code does not fit into 8 bits
     */
    public ExponentialDelay {
        Arguments.requireBits("code of a delay", code, Byte.SIZE);
    }

    /** {@return the delay; empty for codes above 31, which the InfiniBand specification does not define} */
    public Optional<Duration> duration() {
        return code > LAST_CODE ? Optional.empty() : Optional.of(Duration.ofNanos(UNIT_NANOS << code));
    }

    @Override
    public String toString() {
        return duration().map(time -> time + " (code " + code + ")").orElse("undefined (code " + code + ")");
    }
}
