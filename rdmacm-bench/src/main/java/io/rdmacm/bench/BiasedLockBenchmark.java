// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The cost of the biased lock that protects a post against a concurrent close, compared with an ordinary lock. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class BiasedLockBenchmark {
    private final BiasedLock biased = new BiasedLock("queue");
    private final ReentrantLock lock = new ReentrantLock();
    private int work;

    /** The work without a lock. */
    @Benchmark
    public int unguarded() {
        return ++work;
    }

    /** With the biased lock, by the thread that owns the bias. */
    @Benchmark
    public int guarded() {
        Bias bias = biased.enter();
        try {
            return ++work;
        } finally {
            biased.leave(bias);
        }
    }

    /** With an uncontended lock. */
    @Benchmark
    public int locked() {
        lock.lock();
        try {
            return ++work;
        } finally {
            lock.unlock();
        }
    }
}
