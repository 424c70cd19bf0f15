// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.random.RandomGenerator;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.WorkCompletion;

/** Connections of ids and queue pairs, with all operations in both directions and in random order. */
final class Transfers implements Scenario {
    private final int max;

    /**
     * Creates the scenario.
     *
     * @param max the most operations per connection
     */
    Transfers(int max) {
        this.max = max;
    }

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        try (Pair pair = Pair.connect(worker, random)) {
            int count = 1 + random.nextInt(max);
            for (int i = 0; i < count; i++) {
                boolean own = random.nextBoolean();
                Operation operation = Operation.values()[random.nextInt(Operation.values().length)];
                transfer(worker, operation, own ? pair.client() : pair.server(), own ? pair.server() : pair.client(),
                        random);
            }
            if (random.nextBoolean()) {
                pair.disconnect(worker);
            }
        }
    }

    /** Runs one operation, and checks its data at the target. */
    static void transfer(Worker worker, Operation operation, Side from, Side to, RandomGenerator random)
            throws Exception {
        long number = random.nextLong();
        int length = Payload.HEADER + random.nextInt(Side.HALF - Payload.HEADER);
        switch (operation) {
            case SEND, SEND_IMM, WRITE, WRITE_IMM -> put(operation, from, to, number, length);
            case READ -> read(from, to, number, length);
            case COMPARE_AND_SWAP -> compareAndSwap(from, to, number, random.nextBoolean());
            default -> fetchAndAdd(from, to, number);
        }
        worker.counters().countOperation(operation.toString(),
                operation.ordinal() <= Operation.READ.ordinal() ? length : Long.BYTES);
    }

    private static void put(Operation operation, Side from, Side to, long number, int length) throws Exception {
        MemoryRegion target = to.region();
        MemorySegment arrived = target.memory().asSlice(Side.HALF, length);
        arrived.fill((byte) 0);
        Payload.write(from.region().memory().asSlice(0, length), number);
        if (operation.consumesReceive()) {
            to.postReceive(~number, operation == Operation.WRITE_IMM ? 0 : length);
        }
        operation.post(from, number, Operation.Target.of(target.remoteAddress() + Side.HALF, target.remoteKey(),
                (int) number), 0, length);
        from.success(number);
        if (operation.consumesReceive()) {
            WorkCompletion received = to.success(~number);
            LossException.unless(received.byteLength() == length, "%d bytes of %d arrived", received.byteLength(),
                    length);
            boolean immediate = received.hasImmediate();
            LossException.unless(immediate == (operation != Operation.SEND), "immediate of %s: %s", operation,
                    immediate);
            LossException.unless(!immediate || received.immediate() == (int) number, "immediate value %x instead of %x",
                    received.immediate(), (int) number);
        }
        Payload.check(arrived, number);
    }

    private static void read(Side from, Side to, long number, int length) throws Exception {
        MemoryRegion source = to.region();
        MemorySegment arrived = from.region().memory().asSlice(Side.HALF, length);
        arrived.fill((byte) 0);
        Payload.write(source.memory().asSlice(0, length), number);
        Operation.READ.post(from, number, Operation.Target.of(source.remoteAddress(), source.remoteKey(), 0),
                Side.HALF, length);
        from.success(number);
        Payload.check(arrived, number);
    }

    private static void compareAndSwap(Side from, Side to, long number, boolean equal) throws Exception {
        long before = atomic(Operation.COMPARE_AND_SWAP, from, to, number, equal ? number : number + 1, ~number);
        LossException.unless(before == number, "compare and swap found %x instead of %x", before, number);
        long wanted = equal ? ~number : number;
        long after = word(to, 0);
        LossException.unless(after == wanted, "compare and swap made %x of %x instead of %x", after, number, wanted);
    }

    private static void fetchAndAdd(Side from, Side to, long number) throws Exception {
        long before = atomic(Operation.FETCH_AND_ADD, from, to, number, number * number, 0);
        LossException.unless(before == number, "fetch and add found %x instead of %x", before, number);
        long after = word(to, 0);
        LossException.unless(after == number + number * number, "fetch and add made %x of %x", after, number);
    }

    /** Runs an atomic operation, and returns the previous value of the target. */
    private static long atomic(Operation operation, Side from, Side to, long number, long operand, long swap)
            throws Exception {
        to.region().memory().set(ValueLayout.JAVA_LONG, 0, number);
        operation.post(from, number, new Operation.Target(to.region().remoteAddress(), to.region().remoteKey(), 0,
                operand, swap), Side.HALF, Long.BYTES);
        from.success(number);
        return word(from, Side.HALF);
    }

    private static long word(Side side, long offset) {
        return side.region().memory().get(ValueLayout.JAVA_LONG, offset);
    }
}
