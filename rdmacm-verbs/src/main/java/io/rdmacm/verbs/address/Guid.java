// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.util.HexFormat;

/**
 * The globally unique number of a device, a port or a system image ({@code __be64} in C).
 *
 * @param value as a number: its highest byte is the first one that travels
 */
public record Guid(long value) {
    /** Whether all bytes are 0: there is none. */
    public boolean isZero() {
        return value == 0;
    }

    /** As the rdma tools write it: {@code 5054:00ff:fe12:3456}. */
    @Override
    public String toString() {
        String digits = HexFormat.of().toHexDigits(value);
        return String.join(":", digits.substring(0, 4), digits.substring(4, 8), digits.substring(8, 12),
                digits.substring(12));
    }
}
