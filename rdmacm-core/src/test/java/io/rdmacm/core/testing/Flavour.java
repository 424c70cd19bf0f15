// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.OperationHandler;
import io.rdmacm.core.connection.OutgoingMessage;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;

/** The three ways to start an operation of a connection. Each method here returns when the operation has finished. */
public enum Flavour {
    BLOCKING {
        @Override
        public void send(Connection connection, byte[] data) throws Exception {
            connection.send(data, Peers.TIMEOUT);
        }

        @Override
        public void send(Connection connection, MemoryRegion region, long offset, int length) throws Exception {
            connection.send(region, offset, length, Peers.TIMEOUT);
        }

        @Override
        public void sendWithImmediate(Connection connection, MemoryRegion region, long offset, int length,
                int immediate) throws Exception {
            try (OutgoingMessage message = connection.message(length, Peers.TIMEOUT)) {
                message.memory().copyFrom(region.memory().asSlice(offset, length));
                message.sendWithImmediate(immediate, Peers.TIMEOUT);
            }
        }

        @Override
        public void read(Connection connection, MemoryRegion local, long offset, int length, RemoteMemory remote)
                throws Exception {
            connection.read(local, offset, length, remote, Peers.TIMEOUT);
        }

        @Override
        public void write(Connection connection, MemoryRegion local, long offset, int length, RemoteMemory remote)
                throws Exception {
            connection.write(local, offset, length, remote, Peers.TIMEOUT);
        }

        @Override
        public void writeWithImmediate(Connection connection, MemoryRegion local, long offset, int length,
                RemoteMemory remote, int immediate) throws Exception {
            connection.writeWithImmediate(local, offset, length, remote, immediate, Peers.TIMEOUT);
        }

        @Override
        public long compareAndSwap(Connection connection, RemoteMemory remote, long expected, long replacement)
                throws Exception {
            return connection.compareAndSwap(remote, expected, replacement, Peers.TIMEOUT);
        }

        @Override
        public long fetchAndAdd(Connection connection, RemoteMemory remote, long summand) throws Exception {
            return connection.fetchAndAdd(remote, summand, Peers.TIMEOUT);
        }
    },

    FUTURES {
        @Override
        public void send(Connection connection, byte[] data) throws Exception {
            get(connection.async().send(MemorySegment.ofArray(data)));
        }

        @Override
        public void send(Connection connection, MemoryRegion region, long offset, int length) throws Exception {
            get(connection.async().send(region, offset, length));
        }

        @Override
        public void sendWithImmediate(Connection connection, MemoryRegion region, long offset, int length,
                int immediate) throws Exception {
            get(connection.async().sendWithImmediate(region, offset, length, immediate));
        }

        @Override
        public void read(Connection connection, MemoryRegion local, long offset, int length, RemoteMemory remote)
                throws Exception {
            get(connection.async().read(local, offset, length, remote));
        }

        @Override
        public void write(Connection connection, MemoryRegion local, long offset, int length, RemoteMemory remote)
                throws Exception {
            get(connection.async().write(local, offset, length, remote));
        }

        @Override
        public void writeWithImmediate(Connection connection, MemoryRegion local, long offset, int length,
                RemoteMemory remote, int immediate) throws Exception {
            get(connection.async().writeWithImmediate(local, offset, length, remote, immediate));
        }

        @Override
        public long compareAndSwap(Connection connection, RemoteMemory remote, long expected, long replacement)
                throws Exception {
            return get(connection.async().compareAndSwap(remote, expected, replacement));
        }

        @Override
        public long fetchAndAdd(Connection connection, RemoteMemory remote, long summand) throws Exception {
            return get(connection.async().fetchAndAdd(remote, summand));
        }
    },

    HANDLERS {
        private static final long CONTEXT = 0x1234_5678_9ABC_DEF0L;

        @Override
        public void send(Connection connection, byte[] data) throws Exception {
            if (!connection.queue().send(MemorySegment.ofArray(data))) {
                throw new AssertionError("the queue is full");
            }
        }

        @Override
        public void send(Connection connection, MemoryRegion region, long offset, int length) throws Exception {
            handled(connection, handler -> connection.queue().send(region, offset, length, handler, CONTEXT));
        }

        @Override
        public void sendWithImmediate(Connection connection, MemoryRegion region, long offset, int length,
                int immediate) throws Exception {
            handled(connection, handler -> connection.queue().sendWithImmediate(region, offset, length, immediate,
                    handler, CONTEXT));
        }

        @Override
        public void read(Connection connection, MemoryRegion local, long offset, int length, RemoteMemory remote)
                throws Exception {
            handled(connection, handler -> connection.queue().read(local, offset, length, remote, 0, handler,
                    CONTEXT));
        }

        @Override
        public void write(Connection connection, MemoryRegion local, long offset, int length, RemoteMemory remote)
                throws Exception {
            handled(connection, handler -> connection.queue().write(local, offset, length, remote, 0, handler,
                    CONTEXT));
        }

        @Override
        public void writeWithImmediate(Connection connection, MemoryRegion local, long offset, int length,
                RemoteMemory remote, int immediate) throws Exception {
            handled(connection, handler -> connection.queue().writeWithImmediate(local, offset, length, remote, 0,
                    immediate, handler, CONTEXT));
        }

        @Override
        public long compareAndSwap(Connection connection, RemoteMemory remote, long expected, long replacement)
                throws Exception {
            try (MemoryRegion before = connection.protectionDomain().allocate(16, AccessFlag.LOCAL_WRITE)) {
                handled(connection, handler -> connection.queue().compareAndSwap(before, 8, remote, 0, expected,
                        replacement, handler, CONTEXT));
                return before.memory().get(ValueLayout.JAVA_LONG, 8);
            }
        }

        @Override
        public long fetchAndAdd(Connection connection, RemoteMemory remote, long summand) throws Exception {
            try (MemoryRegion before = connection.protectionDomain().allocate(16, AccessFlag.LOCAL_WRITE)) {
                handled(connection, handler -> connection.queue().fetchAndAdd(before, 8, remote, 0, summand,
                        handler, CONTEXT));
                return before.memory().get(ValueLayout.JAVA_LONG, 8);
            }
        }

        private static void handled(Connection connection, Starter starter) throws Exception {
            CompletableFuture<Void> done = new CompletableFuture<>();
            boolean started = starter.start((who, context, failure) -> {
                if (who != connection || context != CONTEXT) {
                    done.completeExceptionally(new AssertionError(who + " " + context));
                } else if (failure != null) {
                    done.completeExceptionally(failure);
                } else {
                    done.complete(null);
                }
            });
            if (!started) {
                throw new AssertionError("the queue is full");
            }
            get(done);
        }
    };

    /** Starts an operation with a handler. */
    @FunctionalInterface
    private interface Starter {
        boolean start(OperationHandler handler) throws RdmaException;
    }

    /** Sends a copy of a message. With handlers, the message may still be on its way. */
    public abstract void send(Connection connection, byte[] data) throws Exception;

    /** Sends part of a region. */
    public abstract void send(Connection connection, MemoryRegion region, long offset, int length) throws Exception;

    /** Sends a message with an immediate value. */
    public abstract void sendWithImmediate(Connection connection, MemoryRegion region, long offset, int length,
            int immediate) throws Exception;

    /** Reads the peer's memory. */
    public abstract void read(Connection connection, MemoryRegion local, long offset, int length,
            RemoteMemory remote) throws Exception;

    /** Writes the peer's memory. */
    public abstract void write(Connection connection, MemoryRegion local, long offset, int length,
            RemoteMemory remote) throws Exception;

    /** Writes the peer's memory and tells the peer. */
    public abstract void writeWithImmediate(Connection connection, MemoryRegion local, long offset, int length,
            RemoteMemory remote, int immediate) throws Exception;

    /** Compares and swaps, and returns the value before. */
    public abstract long compareAndSwap(Connection connection, RemoteMemory remote, long expected,
            long replacement) throws Exception;

    /** Adds, and returns the value before. */
    public abstract long fetchAndAdd(Connection connection, RemoteMemory remote, long summand) throws Exception;

    /** Waits for a future; what it has failed with is thrown. */
    public static <T> T get(CompletableFuture<T> future) throws Exception {
        try {
            return future.get(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception reason) {
                throw reason;
            }
            throw new AssertionError(e.getCause());
        }
    }
}
