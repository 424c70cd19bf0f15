// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.AccessFlag;

/** Memory regions that are registered, written by the peer and closed, in random order. */
final class Regions implements Scenario {
    private static final int MAX = 12;
    private static final int LONGEST = 1 << 20;

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        try (Arena arena = Arena.ofShared(); Pair pair = Pair.connect(worker, random)) {
            List<MemoryRegion> regions = new ArrayList<>();
            try {
                int count = 1 + random.nextInt(MAX);
                for (int i = 0; i < count; i++) {
                    regions.add(register(pair.server(), arena, Side.HALF + random.nextInt(LONGEST - Side.HALF),
                            random.nextBoolean()));
                    write(worker, pair.client(), regions.get(random.nextInt(regions.size())), random);
                    if (random.nextInt(3) == 0) {
                        regions.remove(random.nextInt(regions.size())).close();
                    }
                    if (regions.isEmpty()) {
                        return;
                    }
                }
                Collections.shuffle(regions, new Random(random.nextLong()));
            } finally {
                for (MemoryRegion region : regions) {
                    region.close();
                }
            }
        }
    }

    private static MemoryRegion register(Side side, Arena arena, int size, boolean own) throws Exception {
        AccessFlag[] access = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE};
        return own ? side.domain().allocate(size, access) : side.domain().register(arena.allocate(size), access);
    }

    private static void write(Worker worker, Side from, MemoryRegion to, RandomGenerator random) throws Exception {
        int length = Payload.HEADER + random.nextInt(Side.HALF - Payload.HEADER);
        long offset = random.nextLong(to.length() - length);
        long number = random.nextLong();
        MemorySegment source = from.region().memory().asSlice(0, length);
        Payload.write(source, number);
        Operation.WRITE.post(from, number, Operation.Target.of(to.remoteAddress() + offset, to.remoteKey(), 0), 0,
                length);
        from.success(number);
        Payload.check(to.memory().asSlice(offset, length), number);
        worker.counters().countOperation("write", length);
    }
}
