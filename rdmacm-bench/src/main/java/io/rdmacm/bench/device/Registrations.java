// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.rdmacm.bench.device.machine.CPrograms;
import io.rdmacm.bench.device.machine.Commands;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Side;
import io.rdmacm.bench.report.Summary;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.work.AccessFlag;

/** The cost of registering and deregistering memory, by size. */
final class Registrations {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final int PAGE = 4096;
    private static final double NANOS_PER_MICRO = 1000;

    private Registrations() {
    }

    static void run(Port port, CPrograms programs, Plan plan, Collector collector)
            throws IOException, InterruptedException {
        for (int round = 0; round < plan.rounds(); round++) {
            java(port, plan, round, collector);
            c(port, programs, plan, round, collector);
        }
        plan.registered().forEach(size -> DeviceBenchmark.say("registration of %d B: %s", size,
                collector.text("registration", Summary.TIME, Map.of("size", size), "us")));
    }

    private static void java(Port port, Plan plan, int round, Collector collector) throws IOException {
        try (VerbsContext context = port.device().open();
                ProtectionDomain domain = context.allocateProtectionDomain(); Arena arena = Arena.ofConfined()) {
            for (int size : plan.registered()) {
                MemorySegment memory = arena.allocate(size, PAGE);
                memory.fill((byte) 1);
                if (round == 0 && size == plan.registered().getFirst()) {
                    measure(domain, memory, Math.max(1, plan.warmUp()));
                }
                long[] medians = measure(domain, memory, plan.registrations());
                add(collector, Side.JAVA, size, round, medians[0], medians[1]);
            }
        }
    }

    /** Returns the medians of registration and deregistration, in nanoseconds. */
    private static long[] measure(ProtectionDomain domain, MemorySegment memory, int count) throws IOException {
        long[] made = new long[count];
        long[] freed = new long[count];
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            MemoryRegion region = domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                    AccessFlag.REMOTE_READ);
            long middle = System.nanoTime();
            region.close();
            made[i] = middle - start;
            freed[i] = System.nanoTime() - middle;
        }
        Arrays.sort(made);
        Arrays.sort(freed);
        return new long[] {made[count / 2], freed[count / 2]};
    }

    private static void c(Port port, CPrograms programs, Plan plan, int round, Collector collector)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(programs.register().toString(), port.device().name(),
                Integer.toString(plan.registrations())));
        plan.registered().forEach(size -> command.add(size.toString()));
        for (String line : Commands.run(LIMIT, Map.of(), command).lines().toList()) {
            String[] words = line.split(" ");
            add(collector, Side.C, Integer.parseInt(words[0]), round, Long.parseLong(words[1]),
                    Long.parseLong(words[2]));
        }
    }

    private static void add(Collector collector, Side side, int size, int round, long made, long freed) {
        Map<String, Object> params = Map.of("size", size, Result.ROUND, round);
        collector.add(new Result("registration", side, params, Summary.TIME, "us", made / NANOS_PER_MICRO));
        collector.add(new Result("deregistration", side, params, Summary.TIME, "us", freed / NANOS_PER_MICRO));
    }
}
