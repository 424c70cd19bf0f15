// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.util.List;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.wait.BlockingCall;
import org.jspecify.annotations.Nullable;

/**
 * The look-ups of an id, one at a time: started, answered by an event, and the result taken. The order is kept here,
 * because librdmacm takes the result of a query that comes before the event, and then reports the event as an error.
 */
final class CmIdLookup {
    private static final NativeFunction RESOLVE_ADDRINFO = NativeFunction.of("rdma_resolve_addrinfo");
    private static final NativeFunction QUERY_ADDRINFO = NativeFunction.of("rdma_query_addrinfo");

    private final CmId id;
    // Guarded by the channel's lock, as is the next one.
    private Progress progress = Progress.NONE;
    // Whether a thread is in rdma_resolve_addrinfo, which uses the channel but may take too long to hold its lock.
    private boolean inC;

    CmIdLookup(CmId id) {
        this.id = id;
    }

    private enum Progress {
        NONE, STARTED, FOUND
    }

    /** See {@link CmId#resolveAddressInfo}. The caller has entered the lifetime of the id. */
    void resolve(@Nullable String node, @Nullable String service, AddressInfo.Hints hints) throws RdmaException {
        AddressInfo.checkArguments(node, service, hints);
        try (Arena arena = Arena.ofConfined()) {
            long hint = AddressInfo.write(hints, arena);
            long nodeText = AddressInfo.text(node, arena);
            long serviceText = AddressInfo.text(service, arena);
            begin(hints);
            try {
                BlockingCall call = BlockingCall.of(() ->
                        RESOLVE_ADDRINFO.callInt(id.nativeAddress(), nodeText, serviceText, hint));
                if (call.value() != 0) {
                    throw failure(call.errno(), AddressInfo.describe(node, service));
                }
            } catch (Throwable t) {
                end(false);
                throw t;
            }
            end(true);
        }
    }

    private void begin(AddressInfo.Hints hints) {
        EventChannel channel = id.lockChannel();
        try {
            id.requireReported("resolveAddressInfo");
            if (progress != Progress.NONE) {
                throw new IllegalStateException("resolveAddressInfo is not legal now: " + id + " has a look-up whose "
                        + (progress == Progress.STARTED ? "outcome is not known, next step: wait for ADDRINFO_RESOLVED"
                                : "result was not taken, next step: queryAddressInfo"));
            }
            if (hints.flags().contains(AddressInfo.Flag.SA)) {
                id.requireBound("resolveAddressInfo");
            }
            progress = Progress.STARTED;
            inC = true;
        } finally {
            channel.lock().unlock();
        }
    }

    private void end(boolean started) {
        EventChannel channel = id.lockChannel();
        try {
            inC = false;
            if (!started) {
                progress = Progress.NONE;
            }
            // otherwise another thread may have read the event by now
        } finally {
            channel.lock().unlock();
        }
    }

    /** See {@link CmId#queryAddressInfo}. The caller has entered the lifetime of the id. */
    List<AddressInfo> query() throws RdmaException {
        EventChannel channel = id.lockChannel();
        try (Arena arena = Arena.ofConfined()) {
            if (progress != Progress.FOUND) {
                throw new IllegalStateException("queryAddressInfo is not legal now: " + id + " has no result, next "
                        + "step: " + (progress == Progress.NONE ? "resolveAddressInfo" : "wait for ADDRINFO_RESOLVED"));
            }
            long result = arena.allocate(Long.BYTES, Long.BYTES).address();
            Check.minusOne(QUERY_ADDRINFO, QUERY_ADDRINFO.callInt(id.nativeAddress(), result));
            progress = Progress.NONE;
            return AddressInfo.take(Memory.getLong(result));
        } finally {
            channel.lock().unlock();
        }
    }

    /** Notes an event of the id. With the channel's lock held. */
    void happened(CmEventType event) {
        if (progress == Progress.STARTED && event == CmEventType.ADDRINFO_RESOLVED) {
            progress = Progress.FOUND;
        } else if (event == CmEventType.ADDRINFO_ERROR) {
            progress = Progress.NONE;
        }
    }

    /** Checks that the id can be moved to another channel. With the channel's lock held. */
    void requireOutsideC() {
        if (inC) {
            throw new IllegalStateException(id + " cannot be moved while another thread looks an address up with it");
        }
    }

    /** librdmacm sets errno to what went wrong: an errno, a negative error of getaddrinfo(3), or -1 for the kernel. */
    private static RdmaException failure(int error, String detail) {
        String function = RESOLVE_ADDRINFO.name();
        if (error > 0) {
            return Failures.of(function, error, detail);
        }
        if (error == -1) {
            return new RdmaUnsupportedException(function, 0, "", function + " (" + detail + "): the kernel refused, "
                    + "and librdmacm does not say why; either the kernel does not have the command, as Linux 6.12 does "
                    + "not, or the port is not InfiniBand, which the flag SA needs");
        }
        return AddressInfo.failure(RESOLVE_ADDRINFO, detail, error);
    }
}
