// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.stream.LongStream;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * The list of open devices that rdma_get_devices returns. Until it is freed, librdmacm does not close any of the
 * contexts in it.
 */
final class OpenDevices implements AutoCloseable {
    private static final NativeFunction GET_DEVICES = NativeFunction.of("rdma_get_devices");
    private static final NativeFunction FREE_DEVICES = NativeFunction.of("rdma_free_devices");

    private final long array;

    private OpenDevices(long array) {
        this.array = array;
    }

    static OpenDevices get() throws RdmaException {
        return new OpenDevices(Check.pointer(GET_DEVICES, GET_DEVICES.callLong(0)));
    }

    /** Returns the addresses of the contexts. */
    LongStream contexts() {
        // the array ends with a null pointer
        return LongStream.iterate(array, entry -> Memory.getLong(entry) != 0, entry -> entry + Long.BYTES)
                .map(Memory::getLong);
    }

    @Override
    public void close() throws RdmaException {
        FREE_DEVICES.callInt(array);
    }
}
