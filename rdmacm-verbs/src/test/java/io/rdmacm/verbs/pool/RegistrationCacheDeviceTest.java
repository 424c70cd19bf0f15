// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Transfers from memory that is registered, evicted and freed meanwhile. */
@RequiresRdma
class RegistrationCacheDeviceTest {
    @RegisterExtension
    static final LeavesNothing LEAVES_NOTHING = LeavesNothing.behindAfter(() -> TrafficEnd.openDevice().close());

    // so large that the C library returns the memory to the kernel, and gets other pages at the same address
    private static final int SIZE = 1 << 20;

    @Test
    void eachTransferReadsTheMemoryThatWasMeant() throws Exception {
        TrafficEnd[] ends = TrafficEnd.connected(new TrafficEnd.Builder().type(QueuePairType.RC),
                AccessFlag.REMOTE_WRITE);
        try (TrafficEnd from = ends[0]; TrafficEnd to = ends[1]; Arena others = Arena.ofShared();
                RegistrationCache cache = RegistrationCache.builder(from.domain).maxEntries(2).access().build();
                MemoryRegion target = to.domain.allocate(SIZE, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
            MemorySegment other = others.allocate(2 * SIZE);
            SendRequest write = SendRequests.allocate(1, 1).get(0);
            for (int i = 1; i <= 20; i++) {
                Arena arena = Arena.ofShared();
                MemorySegment memory = arena.allocate(SIZE).fill((byte) i);
                MemoryRegion region;
                try (CachedRegistration used = cache.register(memory);
                        Background<Void> evicting = Background.run(() -> {
                            for (int part = 0; part < 8; part++) {
                                cache.register(other.asSlice(part * 100_000L, 100_000)).close();
                            }
                        })) {
                    region = used.region();
                    from.pair.postSend(write.rdmaWrite(target.remoteAddress(), target.remoteKey())
                            .data(region, used.offset(), SIZE));
                    from.success();
                    evicting.result();
                    assertThat(target.memory().mismatch(memory)).isEqualTo(-1);
                    assertThat(cache.registrations()).isEqualTo(2);
                    Background.run(arena::close).result();
                    assertThat(region.isOpen()).isTrue();
                }
                assertThat(region.isOpen()).isFalse();
            }
        }
    }
}
