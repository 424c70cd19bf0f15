// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Optional;

import io.rdmacm.bindings.rdma_ud_param;
import io.rdmacm.verbs.AddressAttributes;
import io.rdmacm.verbs.internal.AddressStructs;
import io.rdmacm.verbs.internal.Memory;

/**
 * How to send datagrams to a peer or a multicast group ({@code struct rdma_ud_param}, rdma_get_cm_event(3)). Immutable.
 */
public final class DatagramParameters {
    private final byte[] privateData;
    private final AddressAttributes address;
    private final int queuePairNumber;
    private final int queueKey;

    private DatagramParameters(byte[] privateData, AddressAttributes address, int queuePairNumber, int queueKey) {
        this.privateData = privateData;
        this.address = address;
        this.queuePairNumber = queuePairNumber;
        this.queueKey = queueKey;
    }

    /**
     * Reads the struct of an event.
     *
     * @param own whether the private data is the peer's; of a multicast event it is not
     * @param addressed whether the address and the queue are filled in; of a request they are not
     */
    static DatagramParameters read(long struct, boolean own, boolean addressed) {
        long data = Memory.getLong(struct + rdma_ud_param.private_data$offset());
        int length = Byte.toUnsignedInt(Memory.getByte(struct + rdma_ud_param.private_data_len$offset()));
        return new DatagramParameters(own && data != 0 ? Memory.bytes(data, length) : new byte[0],
                addressed ? AddressStructs.read(struct + rdma_ud_param.ah_attr$offset()) : null,
                Memory.getInt(struct + rdma_ud_param.qp_num$offset()),
                Memory.getInt(struct + rdma_ud_param.qkey$offset()));
    }

    /** What the peer sent along; a copy. It may be longer than what the peer gave, filled with zeros. */
    public byte[] privateData() {
        return privateData.clone();
    }

    /** What an address handle to the peer or group is made of; empty for a connect request. */
    public Optional<AddressAttributes> address() {
        return Optional.ofNullable(address);
    }

    /** The queue pair to send to; an unsigned number. */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /** The queue key to send with; an unsigned number. */
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
