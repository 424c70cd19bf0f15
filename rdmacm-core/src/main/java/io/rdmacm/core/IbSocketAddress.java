// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.sockaddr_ib;
import io.rdmacm.verbs.address.Gid;

/**
 * An address of the InfiniBand family: the raw bytes of {@code struct sockaddr_ib} (rdma/ib.h; family AF_IB). Used in
 * the port space IB. Immutable.
 */
public final class IbSocketAddress extends SocketAddress {
    private static final long serialVersionUID = 1L;

    /** The 48 bytes of the struct. */
    private final byte[] bytes;

    private IbSocketAddress(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Returns the address with the given bytes.
     *
     * @param sockaddrIb the 48 bytes of the struct; as in C, its fields are in network byte order except for the
     *        family, which is in the byte order of the machine
     * @return the address
     * @throws IllegalArgumentException when there are not 48 bytes, or the family is not {@code AF_IB}
     */
    public static IbSocketAddress ofBytes(byte[] sockaddrIb) {
        if (sockaddrIb.length != sockaddr_ib.sizeof()) {
            throw new IllegalArgumentException("struct sockaddr_ib has " + sockaddr_ib.sizeof() + " bytes, not "
                    + sockaddrIb.length);
        }
        IbSocketAddress address = new IbSocketAddress(sockaddrIb.clone());
        int family = ByteBuffer.wrap(address.bytes).order(ByteOrder.nativeOrder())
                .getShort((int) sockaddr_ib.sib_family$offset());
        if (family != Rdma.AF_IB()) {
            throw new IllegalArgumentException("the family of a struct sockaddr_ib is AF_IB (" + Rdma.AF_IB()
                    + "), not " + family);
        }
        return address;
    }

    /**
     * Returns the address of a GID.
     *
     * @param gid the GID
     * @return the address, whose fields other than the family and the GID are 0
     */
    public static IbSocketAddress of(Gid gid) {
        ByteBuffer struct = ByteBuffer.allocate((int) sockaddr_ib.sizeof()).order(ByteOrder.nativeOrder());
        struct.putShort((int) sockaddr_ib.sib_family$offset(), (short) Rdma.AF_IB());
        struct.put((int) sockaddr_ib.sib_addr$offset(), gid.toBytes());
        return new IbSocketAddress(struct.array());
    }

    /** {@return the GID of the address} */
    public Gid gid() {
        int offset = (int) sockaddr_ib.sib_addr$offset();
        return Gid.of(Arrays.copyOfRange(bytes, offset, offset + Gid.BYTES));
    }

    /** {@return a copy of the 48 bytes of the struct} */
    public byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof IbSocketAddress that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "sockaddr_ib " + HexFormat.of().formatHex(bytes);
    }
}
