// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Optional;

import io.rdmacm.bindings.rdma_ud_param;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.internal.codec.AddressStructs;
import io.rdmacm.verbs.internal.ffi.Memory;
import org.jspecify.annotations.Nullable;

/**
 * How to send datagrams to a peer or a multicast group ({@code struct rdma_ud_param}, rdma_get_cm_event(3)). Immutable.
 */
public final class DatagramParameters {
    private final byte[] privateData;
    private final @Nullable AddressAttributes address;
    private final int queuePairNumber;
    private final int queueKey;

    private DatagramParameters(byte[] privateData, @Nullable AddressAttributes address, int queuePairNumber,
            int queueKey) {
        this.privateData = privateData;
        this.address = address;
        this.queuePairNumber = queuePairNumber;
        this.queueKey = queueKey;
    }

    /**
     * Reads the struct of an event.
     *
     * @param own whether the struct has private data of the peer; that of a multicast event does not
     * @param addressed whether the struct has an address; that of a connect request does not
     */
    static DatagramParameters read(long struct, boolean own, boolean addressed) {
        long data = Memory.getLong(struct + rdma_ud_param.private_data$offset());
        int length = Byte.toUnsignedInt(Memory.getByte(struct + rdma_ud_param.private_data_len$offset()));
        return new DatagramParameters(own && data != 0 ? Memory.bytes(data, length) : new byte[0],
                addressed ? AddressStructs.read(struct + rdma_ud_param.ah_attr$offset()) : null,
                Memory.getInt(struct + rdma_ud_param.qp_num$offset()),
                Memory.getInt(struct + rdma_ud_param.qkey$offset()));
    }

    /** {@return a copy of the peer's private data, which may be padded with zeros at the end} */
    public byte[] privateData() {
        return privateData.clone();
    }

    /** {@return the attributes for an address handle to the peer or group; empty for a connect request} */
    public Optional<AddressAttributes> address() {
        return Optional.ofNullable(address);
    }

    /** {@return the number of the queue pair to send to, unsigned} */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /** {@return the queue key to send with, unsigned} */
    public int queueKey() {
        return queueKey;
    }

    @Override
    public String toString() {
        return "DatagramParameters[" + privateData.length + " bytes of private data, address=" + address
                + ", queuePairNumber=0x" + Integer.toHexString(queuePairNumber) + ", queueKey=0x"
                + Integer.toHexString(queueKey) + "]";
    }
}
