// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.CmIdTransitions.Call;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.queue.Ece;

/**
 * Sets the options of an id (rdma_set_option(3)); see {@link CmId#options()}. Each method returns this object, so that
 * calls can be chained. All methods may be called from any thread, and throw an IllegalStateException when the id is
 * closed.
 */
public final class CmIdOptions {
    private static final NativeFunction SET_OPTION = NativeFunction.of("rdma_set_option");
    private static final int MOST_TYPE_OF_SERVICE = 255;
    // The kernel's field has 5 bits.
    private static final int MOST_ACK_TIMEOUT = 31;

    private final CmId id;

    CmIdOptions(CmId id) {
        this.id = id;
    }

    /**
     * Sets the type of service of the connection ({@code RDMA_OPTION_ID_TOS}). Set it before the route is resolved.
     *
     * @param typeOfService the IP type of service (traffic class), 0 to 255
     * @return this object
     * @throws RdmaException when the kernel refuses the option
     */
    @CFunction("rdma_set_option")
    public CmIdOptions typeOfService(int typeOfService) throws RdmaException {
        return setByte("type of service", Rdma.RDMA_OPTION_ID_TOS(), typeOfService, MOST_TYPE_OF_SERVICE);
    }

    /**
     * Sets whether the id may bind to an address that is in use ({@code RDMA_OPTION_ID_REUSEADDR}). Set it before the
     * id is bound. All ids that share an address must set it.
     *
     * @param on whether the address may be shared; the default is false
     * @return this object
     * @throws RdmaException EINVAL when it is too late to set the option
     */
    @CFunction("rdma_set_option")
    public CmIdOptions reuseAddress(boolean on) throws RdmaException {
        return setFlag(Rdma.RDMA_OPTION_ID_REUSEADDR(), on);
    }

    /**
     * Sets whether an id that is bound to an IPv6 address accepts IPv6 only ({@code RDMA_OPTION_ID_AFONLY}). Set it
     * before the id is bound.
     *
     * @param on whether connections over IPv4 are refused
     * @return this object
     * @throws RdmaException EINVAL when it is too late to set the option
     */
    @CFunction("rdma_set_option")
    public CmIdOptions addressFamilyOnly(boolean on) throws RdmaException {
        return setFlag(Rdma.RDMA_OPTION_ID_AFONLY(), on);
    }

    /**
     * Sets how long the queue pair waits for an acknowledgement before it retransmits
     * ({@code RDMA_OPTION_ID_ACK_TIMEOUT}). Set it before the connection is established.
     *
     * @param timeout the timeout
     * @return this object
     * @throws IllegalArgumentException when its code is above 31
     * @throws RdmaException when the kernel refuses the option: EINVAL for an id that is not for reliable connections,
     *         ENOSYS when the kernel does not know it
     */
    @CFunction("rdma_set_option")
    public CmIdOptions ackTimeout(AckTimeout timeout) throws RdmaException {
        return setByte("ACK timeout", Rdma.RDMA_OPTION_ID_ACK_TIMEOUT(), timeout.code(), MOST_ACK_TIMEOUT);
    }

    /**
     * Sets how long the queue pair waits for an acknowledgement before it retransmits
     * ({@code RDMA_OPTION_ID_ACK_TIMEOUT}), as {@link #ackTimeout(AckTimeout)} does.
     *
     * @param timeout the time, which {@link AckTimeout#atLeast} rounds up to the next possible one
     * @return this object
     * @throws IllegalArgumentException when the time is zero, negative, or longer than the longest possible one
     * @throws RdmaException as {@link #ackTimeout(AckTimeout)}
     */
    @CFunction("rdma_set_option")
    public CmIdOptions ackTimeout(Duration timeout) throws RdmaException {
        return ackTimeout(AckTimeout.atLeast(timeout));
    }

    /**
     * Sets the route, in place of {@link CmId#resolveRoute} ({@code RDMA_OPTION_IB_PATH}); InfiniBand only. The outcome
     * is ROUTE_RESOLVED.
     *
     * @param paths one or more {@code struct ibv_path_data}, such as {@link AddressInfo#route()}
     * @return this object
     * @throws IllegalArgumentException when the array is empty or does not consist of whole structs
     * @throws RdmaException EINVAL when the kernel finds no usable path among them
     */
    @CFunction("rdma_set_option")
    public CmIdOptions infinibandPaths(byte[] paths) throws RdmaException {
        PathRecords.requireWhole(paths);
        byte[] copy = paths.clone();
        id.run(Call.INFINIBAND_PATHS, () -> callNative(Rdma.RDMA_OPTION_IB(), Rdma.RDMA_OPTION_IB_PATH(), copy));
        return this;
    }

    /**
     * Sets the options for enhanced connection establishment that this side offers ({@code rdma_set_local_ece}).
     *
     * @param ece the options; the vendor must not be 0
     * @return this object
     * @throws IllegalArgumentException when the vendor is 0
     * @throws IllegalStateException when the id already has a queue pair
     * @throws RdmaException when librdmacm refuses
     */
    @CFunction("rdma_set_local_ece")
    public CmIdOptions localEce(Ece ece) throws RdmaException {
        if (ece.vendorId() == 0) {
            throw new IllegalArgumentException("the vendor must not be 0: " + ece);
        }
        id.run(Call.LOCAL_ECE, () -> id.queues().setLocalEce(ece));
        return this;
    }

    /**
     * Sets any option ({@code rdma_set_option}).
     *
     * @param level the C constant {@code RDMA_OPTION_ID} or {@code RDMA_OPTION_IB}
     * @param name the C constant of the option
     * @param value the bytes of the value as C has them in memory, numbers in the byte order of the machine
     * @return this object
     * @throws RdmaException EINVAL when the length is wrong or the id is in the wrong state; ENOSYS when the kernel
     *         does not know the option
     */
    @CFunction("rdma_set_option")
    public CmIdOptions set(int level, int name, byte[] value) throws RdmaException {
        byte[] bytes = value.clone();
        id.run(Call.SET_OPTION, () -> callNative(level, name, bytes));
        return this;
    }

    private CmIdOptions setByte(String what, int option, int value, int most) throws RdmaException {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(what + " must be from 0 to " + most + ", not " + value);
        }
        return set(Rdma.RDMA_OPTION_ID(), option, new byte[] {(byte) value});
    }

    private CmIdOptions setFlag(int option, boolean on) throws RdmaException {
        byte[] value = new byte[Integer.BYTES];
        MemorySegment.ofArray(value).set(ValueLayout.JAVA_INT_UNALIGNED, 0, on ? 1 : 0);
        return set(Rdma.RDMA_OPTION_ID(), option, value);
    }

    private void callNative(int level, int name, byte[] value) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long copy = value.length == 0 ? 0 : arena.allocateFrom(ValueLayout.JAVA_BYTE, value).address();
            int result = SET_OPTION.callInt(id.nativeAddress(), level, name, copy, value.length);
            CmFailures.check(SET_OPTION, result, "level " + level + ", option " + name);
        }
    }
}
