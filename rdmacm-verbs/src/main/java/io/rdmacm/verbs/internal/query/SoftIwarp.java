// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.query;

import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * What is special about devices of SoftiWARP. They fill only the first entry of a read, and lose what is posted when
 * the queue pair is in error, for instance because the peer is gone. Their library hides that it has refused a request
 * after others, and refuses each queue whose memory begins 576 KiB after the start of that of all queues of a context,
 * because it takes that offset for none (libsiw, up to rdma-core 65 at least). The kernel gives the first pages that
 * are free: a queue without use that is made before all others keeps that place.
 */
public final class SoftIwarp {
    private static final NativeFunction CREATE_CQ = NativeFunction.of("ibv_create_cq");
    private static final NativeFunction DESTROY_CQ = NativeFunction.of("ibv_destroy_cq");
    private static final int VENDOR = 0x626d74;
    // 1 MiB, of 32 bytes each
    private static final int COMPLETIONS = 1 << 15;

    private SoftIwarp() {
    }

    /** Returns whether the device of a context is one of these. */
    public static boolean is(long context) {
        try {
            return DeviceQueries.queryDevice(context).vendorId() == VENDOR;
        } catch (RdmaException e) {
            // a device that is going away
            return false;
        }
    }

    /** Takes the page out of use; returns the queue that keeps it, 0 if there is none. */
    public static long keepPage(long context) {
        try {
            return CREATE_CQ.callLong(context, COMPLETIONS, 0, 0, 0);
        } catch (NativeLibraryException e) {
            return 0;
        }
    }

    /** Destroys the queue that keeps the page. */
    public static void givePage(long queue) throws RdmaException {
        Check.returned(DESTROY_CQ, DESTROY_CQ.callInt(queue));
    }
}
