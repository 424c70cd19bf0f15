// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

import io.rdmacm.bindings.ibv_mw_bind_info;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.verbs.internal.driver.QueuePairExOps;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.work.MemoryWindowType;
import org.jspecify.annotations.Nullable;

/**
 * The bind of a memory window of type 2 by a work request. The request may be posted more than once; each time, the
 * bind is checked, begun before C sees it, and ended once it is known whether the request was posted.
 */
final class WindowBind {
    private static final long BIND = ibv_send_wr.bind_mw$offset();
    private static final long WINDOW = BIND + ibv_send_wr.bind_mw.mw$offset();
    private static final long KEY = BIND + ibv_send_wr.bind_mw.rkey$offset();
    private static final long INFO = BIND + ibv_send_wr.bind_mw.bind_info$offset();

    private final MemoryWindow window;
    private final int remoteKey;
    private final MemoryWindowBinding binding;
    // the struct ibv_mw_bind_info that a batch passes to C; null if the request contains it
    private final @Nullable MemorySegment info;
    // what the window was bound to before; null unless the bind has begun
    private MemoryWindow.@Nullable State before;

    private WindowBind(MemoryWindow window, int remoteKey, MemoryWindowBinding binding, @Nullable MemorySegment info) {
        this.window = window;
        this.remoteKey = remoteKey;
        this.binding = binding;
        this.info = info;
    }

    /**
     * Creates a bind and writes it to a request. If the bind is refused, the request is unchanged.
     *
     * @param request the address of a {@code struct ibv_send_wr}
     */
    static WindowBind inRequest(long request, MemoryWindow window, int remoteKey, MemoryWindowBinding binding) {
        requireBindable(window, binding);
        binding.write(request + INFO);
        Memory.putLong(request + WINDOW, window.address());
        Memory.putInt(request + KEY, remoteKey);
        return new WindowBind(window, remoteKey, binding, null);
    }

    /** Creates a bind for a batch. {@link #begin(QueuePairExOps)} passes it to C. */
    static WindowBind inBatch(MemoryWindow window, int remoteKey, MemoryWindowBinding binding) {
        requireBindable(window, binding);
        MemorySegment info = ibv_mw_bind_info.allocate(Arena.ofAuto());
        binding.write(info.address());
        return new WindowBind(window, remoteKey, binding, info);
    }

    private static void requireBindable(MemoryWindow window, MemoryWindowBinding binding) {
        if (window.type() != MemoryWindowType.TYPE_2) {
            throw new IllegalArgumentException("a memory window of type 1 must be bound with MemoryWindow.bind: "
                    + window);
        }
        binding.check(window.protectionDomain());
    }

    /**
     * Checks that the window and the region are open, because drivers could crash otherwise. Called with the lock of
     * the send queue held.
     */
    void check(ProtectionDomain sender) {
        window.checkDomain(sender);
        binding.check(window.protectionDomain());
    }

    /** Begins the bind, just before the request is posted. {@link #end} must follow. */
    void begin() {
        before = window.begin(binding, remoteKey);
    }

    /** Begins the bind, and adds it to the batch that C builds. If that throws, the bind has not begun. */
    void begin(QueuePairExOps ops) {
        begin();
        try {
            ops.bindMw(window.address(), remoteKey, Objects.requireNonNull(info).address());
        } catch (Throwable t) {
            end(false);
            throw t;
        }
    }

    /** Ends the bind, once it is known whether the request was posted. */
    void end(boolean posted) {
        window.end(Objects.requireNonNull(before), binding, posted);
        before = null;
    }
}
