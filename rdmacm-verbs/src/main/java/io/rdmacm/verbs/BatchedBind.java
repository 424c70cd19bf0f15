// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.ibv_mw_bind_info;
import io.rdmacm.verbs.internal.QueuePairExOps;

/** The bind of a memory window of type 2 in a batch: begun when C learns of it, and ended with the batch. */
final class BatchedBind {
    private final MemoryWindow window;
    private final int remoteKey;
    private final MemoryWindowBinding binding;
    private final MemorySegment info = ibv_mw_bind_info.allocate(Arena.ofAuto());
    private MemoryWindow.State before;

    BatchedBind(MemoryWindow window, int remoteKey, MemoryWindowBinding binding) {
        if (window.type() != MemoryWindowType.TYPE_2) {
            throw new IllegalArgumentException("a memory window of type 1 is bound by MemoryWindow.bind: " + window);
        }
        binding.check(window.protectionDomain());
        this.window = window;
        this.remoteKey = remoteKey;
        this.binding = binding;
        binding.write(info.address());
    }

    /** What a driver would not survive; inside the guard of the send queue. */
    void check(ProtectionDomain sender) {
        window.checkDomain(sender);
        binding.check(window.protectionDomain());
    }

    /** Inside the guard; {@link #end} must follow. */
    void build(QueuePairExOps ops) {
        before = window.begin(binding.region(), remoteKey);
        ops.bindMw(window.address(), remoteKey, info.address());
    }

    void end(boolean posted) {
        window.end(before, binding.region(), posted);
    }
}
