// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.lang.reflect.Field;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.internal.engine.Workers;

/** No thread can be started for the tasks of the library, as where the machine has no room for more. */
public final class NoWorkers implements AutoCloseable {
    private final ThreadPoolExecutor pool;
    private final ThreadFactory factory;
    private final long keepAlive;

    /** Begins; the threads that wait for tasks end first. */
    public NoWorkers() throws ReflectiveOperationException {
        Field field = Workers.class.getDeclaredField("POOL");
        field.setAccessible(true);
        pool = (ThreadPoolExecutor) field.get(null);
        factory = pool.getThreadFactory();
        keepAlive = pool.getKeepAliveTime(TimeUnit.NANOSECONDS);
        pool.setThreadFactory(task -> {
            throw new OutOfMemoryError("in a test: unable to create native thread");
        });
        pool.setKeepAliveTime(0, TimeUnit.NANOSECONDS);
        while (pool.getPoolSize() > 0) {
            Thread.yield();
        }
    }

    @Override
    public void close() {
        pool.setKeepAliveTime(keepAlive, TimeUnit.NANOSECONDS);
        pool.setThreadFactory(factory);
    }
}
