// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.bindings.ibv_path_data;
import io.rdmacm.bindings.ibv_path_record;

/**
 * The path records of an InfiniBand route, with changes: the service level and the MTU of a connection, which the
 * subnet manager chooses otherwise. Immutable. {@link AddressInfo#route()} has records to begin with; the result is for
 * {@link CmIdOptions#infinibandPaths}, and for the {@code route} of the settings of connections and streams.
 *
 * <p>The connection manager takes path records on InfiniBand only. On RoCE, the service level is the priority that the
 * network interface gives to the type of service, and the path MTU is the largest that fits the MTU of the interface;
 * iWARP has neither.
 */
public final class PathRecords {
    private static final int RECORD = (int) ibv_path_data.path$offset();
    private static final int SERVICE_LEVEL = RECORD + (int) ibv_path_record.qosclass_sl$offset() + 1;
    private static final int MTU = RECORD + (int) ibv_path_record.mtu$offset();
    private static final int SIZE = (int) ibv_path_data.sizeof();
    private static final int MOST_SERVICE_LEVEL = 15;
    // in the two highest bits: exactly this MTU
    private static final int EXACTLY = 2 << 6;
    private static final int MTU_BASE = 128;
    private static final int LEAST_MTU = 256;
    private static final int MOST_MTU = 4096;

    private final byte[] bytes;

    private PathRecords(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Returns records as C has them.
     *
     * @param paths one or more {@code struct ibv_path_data}
     * @return the records
     * @throws IllegalArgumentException when the array is empty or does not consist of whole structs
     */
    public static PathRecords of(byte[] paths) {
        requireWhole(paths);
        return new PathRecords(paths.clone());
    }

    static void requireWhole(byte[] paths) {
        if (paths.length == 0 || paths.length % SIZE != 0) {
            throw new IllegalArgumentException("paths must be one or more structs of " + SIZE + " bytes each, not "
                    + paths.length + " bytes");
        }
    }

    /**
     * Returns these records with a service level, by which switches choose a virtual lane.
     *
     * @param level from 0 to 15
     * @return the changed records
     * @throws IllegalArgumentException when the level is out of range
     */
    public PathRecords serviceLevel(int level) {
        if (level < 0 || level > MOST_SERVICE_LEVEL) {
            throw new IllegalArgumentException("the service level must be from 0 to " + MOST_SERVICE_LEVEL + ", not "
                    + level);
        }
        return with(SERVICE_LEVEL, MOST_SERVICE_LEVEL, level);
    }

    /**
     * Returns these records with a path MTU, which must be no larger than that of any link on the way.
     *
     * @param mtu 256, 512, 1024, 2048 or 4096 bytes
     * @return the changed records
     * @throws IllegalArgumentException when there is no such MTU
     */
    public PathRecords pathMtu(int mtu) {
        if (Integer.bitCount(mtu) != 1 || mtu < LEAST_MTU || mtu > MOST_MTU) {
            throw new IllegalArgumentException("the path MTU must be 256, 512, 1024, 2048 or 4096, not " + mtu);
        }
        return with(MTU, 0xff, EXACTLY | Integer.numberOfTrailingZeros(mtu / MTU_BASE));
    }

    /** Sets bits of a byte of each record. */
    private PathRecords with(int offset, int mask, int value) {
        byte[] changed = bytes.clone();
        for (int record = 0; record < changed.length; record += SIZE) {
            changed[record + offset] = (byte) (changed[record + offset] & ~mask | value);
        }
        return new PathRecords(changed);
    }

    /** {@return the records as C has them, {@code struct ibv_path_data}} */
    public byte[] toBytes() {
        return bytes.clone();
    }
}
