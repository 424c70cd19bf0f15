// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.util.HexFormat;

/**
 * The globally unique identifier (GUID) of a device, a port or a system image ({@code __be64} in C).
 *
 * @param value the 8 bytes as a number, the first byte on the wire being the most significant
 */
public record Guid(long value) {
    /** {@return whether all bytes are 0, which means that there is no GUID} */
    public boolean isZero() {
        return value == 0;
    }

    /** {@return the notation of the rdma tools, such as {@code 5054:00ff:fe12:3456}} */
    @Override
    public String toString() {
        String digits = HexFormat.of().toHexDigits(value);
        return String.join(":", digits.substring(0, 4), digits.substring(4, 8), digits.substring(8, 12),
                digits.substring(12));
    }
}
