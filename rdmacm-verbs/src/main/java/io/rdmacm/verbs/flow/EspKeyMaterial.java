// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.util.Arrays;

/**
 * The key of a flow action, for AES-GCM (RFC 4106; {@code struct ibv_flow_action_esp_keymat_aes_gcm},
 * ibv_flow_action_esp(3)). Immutable. {@link #toString()} does not reveal the key.
 *
 * @param initializationVector the initial value of the initialization vector, which is incremented with each packet;
 *        only used with {@link EspFlag#FULL_OFFLOAD} and {@link EspFlag#ENCRYPT}; stored in the byte order of the
 *        machine
 * @param salt the 4 bytes of salt, stored in the byte order of the machine
 * @param checkLength the length of the integrity check value (ICV) in bytes: 8, 12 or 16
 * @param key the AES key: 16, 24 or 32 bytes
 */
public record EspKeyMaterial(long initializationVector, int salt, int checkLength, byte[] key) {
    /**
     * Checks the lengths, and copies the key.
     *
     * @throws IllegalArgumentException if a length is not allowed by RFC 4106
     */
    public EspKeyMaterial {
        if (checkLength != 8 && checkLength != 12 && checkLength != 16) {
            throw new IllegalArgumentException("an integrity check value has 8, 12 or 16 bytes, not " + checkLength);
        }
        if (key.length != 16 && key.length != 24 && key.length != 32) {
            throw new IllegalArgumentException("an AES key has 16, 24 or 32 bytes, not " + key.length);
        }
        key = key.clone();
    }

    /** {@return a copy of the key} */
    @Override
    public byte[] key() {
        return key.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EspKeyMaterial(long vector, int itsSalt, int length, byte[] itsKey)
                && vector == initializationVector && itsSalt == salt && length == checkLength
                && Arrays.equals(itsKey, key);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(key);
    }

    @Override
    public String toString() {
        return "EspKeyMaterial[AES-GCM, key of " + key.length + " bytes, check value of " + checkLength + " bytes]";
    }
}
