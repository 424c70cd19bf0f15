// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.sockaddr;
import io.rdmacm.bindings.sockaddr_in;
import io.rdmacm.bindings.sockaddr_in6;
import io.rdmacm.bindings.sockaddr_storage;
import io.rdmacm.verbs.internal.Memory;

/** Between the addresses of Java and {@code struct sockaddr}, whose ports are in network byte order. */
final class SocketAddresses {
    private SocketAddresses() {
    }

    /** Writes an address as C takes it; 0, the null pointer, for null. */
    static long write(InetSocketAddress address, Arena arena) {
        if (address == null) {
            return 0;
        }
        if (address.isUnresolved()) {
            throw new IllegalArgumentException("the host name is not resolved: " + address);
        }
        long memory = arena.allocate(sockaddr_storage.layout()).address();
        byte[] bytes = address.getAddress().getAddress();
        if (address.getAddress() instanceof Inet6Address inet6) {
            Memory.putShort(memory + sockaddr_in6.sin6_family$offset(), (short) Rdma.AF_INET6());
            Memory.putShort(memory + sockaddr_in6.sin6_port$offset(), swap((short) address.getPort()));
            Memory.putInt(memory + sockaddr_in6.sin6_scope_id$offset(), inet6.getScopeId());
            putBytes(memory + sockaddr_in6.sin6_addr$offset(), bytes);
        } else {
            Memory.putShort(memory + sockaddr_in.sin_family$offset(), (short) Rdma.AF_INET());
            Memory.putShort(memory + sockaddr_in.sin_port$offset(), swap((short) address.getPort()));
            putBytes(memory + sockaddr_in.sin_addr$offset(), bytes);
        }
        return memory;
    }

    /** Reads an address; null when there is none, or one that is not of IP. */
    static InetSocketAddress read(long memory) {
        int family = Memory.getShort(memory + sockaddr.sa_family$offset());
        try {
            if (family == Rdma.AF_INET()) {
                InetAddress host = Inet4Address.getByAddress(
                        Memory.bytes(memory + sockaddr_in.sin_addr$offset(), 4));
                return new InetSocketAddress(host, port(memory + sockaddr_in.sin_port$offset()));
            }
            if (family == Rdma.AF_INET6()) {
                byte[] bytes = Memory.bytes(memory + sockaddr_in6.sin6_addr$offset(), 16);
                int scope = Memory.getInt(memory + sockaddr_in6.sin6_scope_id$offset());
                InetAddress host = scope == 0
                        ? InetAddress.getByAddress(bytes)
                        : Inet6Address.getByAddress(null, bytes, scope);
                return new InetSocketAddress(host, port(memory + sockaddr_in6.sin6_port$offset()));
            }
            return null;
        } catch (UnknownHostException e) {
            throw new AssertionError("4 and 16 bytes are addresses", e);
        }
    }

    private static int port(long address) {
        return Short.toUnsignedInt(swap(Memory.getShort(address)));
    }

    private static void putBytes(long address, byte[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            Memory.putByte(address + i, bytes[i]);
        }
    }

    private static short swap(short value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Short.reverseBytes(value) : value;
    }
}
