// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.verbs.internal.Memory;

/** The part of a send work request that binds a memory window of type 2. */
final class WindowBind {
    private static final long BIND = ibv_send_wr.bind_mw$offset();
    private static final long WINDOW = BIND + ibv_send_wr.bind_mw.mw$offset();
    private static final long KEY = BIND + ibv_send_wr.bind_mw.rkey$offset();
    private static final long INFO = BIND + ibv_send_wr.bind_mw.bind_info$offset();

    private final MemoryWindow window;
    private final int remoteKey;
    private final MemoryWindowBinding binding;
    // while it is posted
    private MemoryWindow.State before;

    /**
     * Writes it into a request.
     *
     * @param request the address of a {@code struct ibv_send_wr}
     */
    WindowBind(long request, MemoryWindow window, int remoteKey, MemoryWindowBinding binding) {
        this.window = window;
        this.remoteKey = remoteKey;
        this.binding = binding;
        if (window.type() != MemoryWindowType.TYPE_2) {
            throw new IllegalArgumentException("a memory window of type 1 is bound by MemoryWindow.bind: " + window);
        }
        binding.check(window.protectionDomain());
        // This first: where it is refused, for the region has become shorter, the request stays what it was.
        binding.write(request + INFO);
        Memory.putLong(request + WINDOW, window.address());
        Memory.putInt(request + KEY, remoteKey);
    }

    /** What a driver would not survive: a window or a region that is gone. Asked inside the guard of the send queue. */
    void check(ProtectionDomain sender) {
        window.checkDomain(sender);
        binding.check(window.protectionDomain());
    }

    /** Just before the post. */
    void begin() {
        before = window.begin(binding.region(), remoteKey);
    }

    /** Just after the post. */
    void end(boolean posted) {
        window.end(before, binding.region(), posted);
        before = null;
    }
}
