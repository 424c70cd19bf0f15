// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.query;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_ah_attr;
import io.rdmacm.bindings.ibv_gid_entry;
import io.rdmacm.bindings.ibv_port_attr;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.EthernetAddress;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.codec.AddressStructs;
import io.rdmacm.verbs.internal.codec.DeviceStructs;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;

/**
 * The queries of {@link io.rdmacm.verbs.VerbsContext VerbsContext} that concern a port: its attributes, GIDs and
 * partition keys, and Ethernet address resolution.
 */
public final class PortQueries {
    // For drivers without the extended query: they fill the shorter struct of their time.
    private static final NativeFunction QUERY_PORT = NativeFunction.of("ibv_query_port");
    private static final NativeFunction QUERY_PORT_SPEED = NativeFunction.of("ibv_query_port_speed");
    private static final NativeFunction QUERY_GID = NativeFunction.of("ibv_query_gid");
    private static final NativeFunction QUERY_GID_EX = NativeFunction.of("_ibv_query_gid_ex");
    private static final NativeFunction QUERY_GID_TABLE = NativeFunction.of("_ibv_query_gid_table");
    private static final NativeFunction QUERY_PKEY = NativeFunction.of("ibv_query_pkey");
    private static final NativeFunction GET_PKEY_INDEX = NativeFunction.of("ibv_get_pkey_index");
    private static final NativeFunction RESOLVE_ETH = NativeFunction.of("ibv_resolve_eth_l2_from_gid");
    private static final int MAC_BYTES = 6;
    private static final int NO_VLAN = 0xffff;
    private static final int MAX_PKEY = 0xffff;
    // more than any device has; caps the memory that is allocated for a larger request
    private static final int MOST_GIDS = 1 << 16;

    private PortQueries() {
    }

    /** Returns the attributes of a port ({@code ibv_query_port}). */
    public static PortAttributes queryPort(long context, int port) throws RdmaException {
        Arguments.requirePort(port);
        try (Arena arena = Arena.ofConfined()) {
            long attributes = arena.allocate(ibv_port_attr.layout()).address();
            MemorySegment function = ExtendedOps.QUERY_PORT.of(context);
            if (function.equals(MemorySegment.NULL)) {
                check(QUERY_PORT.name(), QUERY_PORT.callInt(context, port, attributes), "port " + port);
            } else {
                NativeFunction query = NativeFunction.at(ExtendedOps.QUERY_PORT.function(), function.address());
                check(query.name(), query.callInt(context, port, attributes, ibv_port_attr.sizeof()), "port " + port);
            }
            return DeviceStructs.readPort(attributes);
        }
    }

    /** Returns the effective bandwidth of a port in units of 100 Mbit/s ({@code ibv_query_port_speed}). */
    public static long queryPortSpeed(long context, int port) throws RdmaException {
        Arguments.requirePort(port);
        try (Arena arena = Arena.ofConfined()) {
            long speed = arena.allocate(ValueLayout.JAVA_LONG).address();
            check(QUERY_PORT_SPEED.name(), QUERY_PORT_SPEED.callInt(context, port, speed), "port " + port);
            return Memory.getLong(speed);
        }
    }

    /** Returns an entry of the GID table, zero for an empty one ({@code ibv_query_gid}). */
    public static Gid queryGid(long context, int port, int index) throws RdmaException {
        Arguments.requirePort(port);
        requireIndex(index);
        try (Arena arena = Arena.ofConfined()) {
            long gid = arena.allocate(Gid.BYTES, Long.BYTES).address();
            if (QUERY_GID.callInt(context, port, index, gid) != 0) {
                throw gidError(context, port, index, arena);
            }
            return Gid.of(Memory.bytes(gid, Gid.BYTES));
        }
    }

    /**
     * Finds out why a query failed: {@code ibv_query_gid} does not set errno, but {@code ibv_query_gid_ex} returns the
     * error number.
     */
    private static RdmaException gidError(long context, int port, int index, Arena arena) throws RdmaException {
        long entry = arena.allocate(ibv_gid_entry.layout()).address();
        int error = QUERY_GID_EX.callInt(context, port, index, entry, 0, ibv_gid_entry.sizeof());
        return Failures.of(QUERY_GID.name(), error == 0 ? Rdma.EIO() : Math.abs(error), describe(port, index));
    }

    /** Returns an entry of the GID table with its type ({@code ibv_query_gid_ex}). */
    public static GidEntry queryGidEx(long context, int port, int index) throws RdmaException {
        Arguments.requirePort(port);
        requireIndex(index);
        try (Arena arena = Arena.ofConfined()) {
            long entry = arena.allocate(ibv_gid_entry.layout()).address();
            check("ibv_query_gid_ex", QUERY_GID_EX.callInt(context, port, index, entry, 0, ibv_gid_entry.sizeof()),
                    describe(port, index));
            return DeviceStructs.readGidEntry(entry);
        }
    }

    /** Returns the valid entries of the GID tables of all ports ({@code ibv_query_gid_table}). */
    public static List<GidEntry> queryGidTable(long context, int maxEntries) throws RdmaException {
        if (maxEntries < 0) {
            throw new IllegalArgumentException("maxEntries must not be negative: " + maxEntries);
        }
        try (Arena arena = Arena.ofConfined()) {
            long size = ibv_gid_entry.sizeof();
            int room = Math.min(maxEntries, MOST_GIDS);
            long entries = arena.allocate(Math.max(1, room) * size, Long.BYTES).address();
            long count = QUERY_GID_TABLE.callLong(context, entries, room, 0, size);
            if (count < 0) {
                throw Failures.of("ibv_query_gid_table", (int) -count, "at most " + maxEntries + " entries");
            }
            List<GidEntry> table = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                table.add(DeviceStructs.readGidEntry(entries + i * size));
            }
            return List.copyOf(table);
        }
    }

    /** Returns an entry of the partition key table ({@code ibv_query_pkey}). */
    public static int queryPartitionKey(long context, int port, int index) throws RdmaException {
        Arguments.requirePort(port);
        requireIndex(index);
        try (Arena arena = Arena.ofConfined()) {
            long key = arena.allocate(Short.BYTES, Short.BYTES).address();
            Check.minusOne(QUERY_PKEY, QUERY_PKEY.callInt(context, port, index, key));
            return Short.toUnsignedInt(NetworkOrder.toHost(Memory.getShort(key)));
        }
    }

    /** Returns the index of a partition key in the table of a port ({@code ibv_get_pkey_index}). */
    public static int partitionKeyIndex(long context, int port, int key) throws RdmaException {
        Arguments.requirePort(port);
        if (key < 0 || key > MAX_PKEY) {
            throw new IllegalArgumentException("a partition key is a 16-bit number, not " + key);
        }
        short wanted = NetworkOrder.toNetwork((short) key);
        int index = GET_PKEY_INDEX.callInt(context, port, Short.toUnsignedLong(wanted));
        return Check.minusOne(GET_PKEY_INDEX, index);
    }

    /** Returns the Ethernet address behind a GID ({@code ibv_resolve_eth_l2_from_gid}). */
    public static EthernetAddress resolveEthernetAddress(long context, AddressAttributes attributes)
            throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(ibv_ah_attr.layout()).address();
            AddressStructs.write(attributes, struct);
            long mac = arena.allocate(Long.BYTES, Long.BYTES).address();
            long vlan = arena.allocate(Short.BYTES, Short.BYTES).address();
            Check.returned(RESOLVE_ETH, RESOLVE_ETH.callInt(context, struct, mac, vlan));
            int number = Short.toUnsignedInt(Memory.getShort(vlan));
            long bytes = 0;
            for (byte b : Memory.bytes(mac, MAC_BYTES)) {
                bytes = bytes << Byte.SIZE | Byte.toUnsignedLong(b);
            }
            return new EthernetAddress(bytes, number == NO_VLAN ? OptionalInt.empty() : OptionalInt.of(number));
        }
    }

    private static void check(String function, int result, String detail) throws RdmaException {
        if (result != 0) {
            throw Failures.of(function, Math.abs(result), detail);
        }
    }

    private static String describe(int port, int index) {
        return "index " + index + " of port " + port;
    }

    private static void requireIndex(int index) {
        if (index < 0) {
            throw new IllegalArgumentException("the index must not be negative: " + index);
        }
    }
}
