// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.util.List;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.sockaddr;
import io.rdmacm.bindings.sockaddr_ib;
import io.rdmacm.bindings.sockaddr_in;
import io.rdmacm.bindings.sockaddr_in6;
import io.rdmacm.bindings.sockaddr_storage;
import io.rdmacm.verbs.internal.ffi.Memory;
import org.jspecify.annotations.Nullable;

/** Converts socket addresses to and from {@code struct sockaddr}, whose ports are in network byte order. */
final class SocketAddresses {
    private SocketAddresses() {
    }

    /**
     * An address in C.
     *
     * @param address the address of the struct
     * @param length the size of the struct in bytes
     */
    record Native(long address, int length) {
    }

    /** Writes an address and returns the address of the struct; returns 0, the null pointer, for null. */
    static long write(@Nullable SocketAddress address, Arena arena) {
        return address == null ? 0 : allocate(address, arena).address();
    }

    /** Writes an address, which must not be null, into new memory. */
    static Native allocate(SocketAddress address, Arena arena) {
        long memory = arena.allocate(sockaddr_storage.layout()).address();
        if (address instanceof IbSocketAddress infiniband) {
            byte[] bytes = infiniband.bytes();
            putBytes(memory, bytes);
            return new Native(memory, bytes.length);
        }
        if (!(address instanceof InetSocketAddress inet)) {
            throw new IllegalArgumentException("expected an InetSocketAddress or an IbSocketAddress, not " + address);
        }
        if (inet.isUnresolved()) {
            throw new IllegalArgumentException("the host name is not resolved: " + address);
        }
        return new Native(memory, inet.getAddress() instanceof Inet6Address inet6
                ? write(memory, inet6, inet.getPort())
                : write(memory, inet.getAddress(), inet.getPort()));
    }

    private static int write(long memory, Inet6Address address, int port) {
        Memory.putShort(memory + sockaddr_in6.sin6_family$offset(), (short) Rdma.AF_INET6());
        Memory.putShort(memory + sockaddr_in6.sin6_port$offset(), swap((short) port));
        Memory.putInt(memory + sockaddr_in6.sin6_scope_id$offset(), address.getScopeId());
        putBytes(memory + sockaddr_in6.sin6_addr$offset(), address.getAddress());
        return (int) sockaddr_in6.sizeof();
    }

    private static int write(long memory, InetAddress address, int port) {
        Memory.putShort(memory + sockaddr_in.sin_family$offset(), (short) Rdma.AF_INET());
        Memory.putShort(memory + sockaddr_in.sin_port$offset(), swap((short) port));
        putBytes(memory + sockaddr_in.sin_addr$offset(), address.getAddress());
        return (int) sockaddr_in.sizeof();
    }

    /** Reads an address; returns null when there is none, or its family is neither IPv4, IPv6 nor InfiniBand. */
    static @Nullable SocketAddress readAny(long memory) {
        int family = Memory.getShort(memory + sockaddr.sa_family$offset());
        return family == Rdma.AF_IB()
                ? IbSocketAddress.ofBytes(Memory.bytes(memory, (int) sockaddr_ib.sizeof()))
                : read(memory);
    }

    /** Reads an IP address; returns null when there is none, or it is of another family. */
    static @Nullable InetSocketAddress read(long memory) {
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

    /** Returns whether an address means nothing, because it is link-local and lacks its interface. */
    static boolean lacksScope(SocketAddress address) {
        return address instanceof InetSocketAddress inet && inet.getAddress() instanceof Inet6Address ip
                && ip.isLinkLocalAddress() && ip.getScopeId() == 0;
    }

    /**
     * Adds its interface to a link-local address that lacks it, as those of accepted connections do in the kernel.
     *
     * @param local the local address of the connection, which belongs to that interface
     */
    static InetSocketAddress withScope(InetSocketAddress address, InetSocketAddress local) {
        if (!lacksScope(address)) {
            return address;
        }
        try {
            // An address of Java equals one with another scope.
            List<NetworkInterface> found = NetworkInterface.networkInterfaces().filter(each -> each.inetAddresses()
                    .anyMatch(local.getAddress()::equals)).toList();
            return found.size() != 1 ? address : new InetSocketAddress(Inet6Address.getByAddress(null,
                    address.getAddress().getAddress(), found.getFirst().getIndex()), address.getPort());
        } catch (IOException e) {
            return address;
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

    /** Converts between host and network byte order. */
    static short swap(short value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Short.reverseBytes(value) : value;
    }
}
