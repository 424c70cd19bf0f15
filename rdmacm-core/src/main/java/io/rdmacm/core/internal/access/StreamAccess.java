// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.access;

import java.net.InetSocketAddress;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.verbs.error.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Streams whose completions arrive in queues that they share, for event loops that drive them together. Such a stream
 * is used without its own {@code fd()}, and by methods that never wait.
 *
 * <p>The implementation is in the package of the streams. It is loaded by name when it is first needed, and registers
 * itself.
 */
public abstract class StreamAccess {
    private static final String IMPLEMENTATION = "io.rdmacm.core.stream.StreamAccessor";

    @SuppressWarnings("NullAway.Init")
    private static volatile StreamAccess instance;

    /** Called by the only implementation. */
    protected StreamAccess() {
    }

    /** Registers the implementation. Called once, by its static initialiser. */
    protected static void register(StreamAccess implementation) {
        instance = implementation;
    }

    /** Returns the only instance. */
    public static StreamAccess get() {
        if (instance == null) {
            try {
                Class.forName(IMPLEMENTATION, true, StreamAccess.class.getClassLoader());
            } catch (ClassNotFoundException e) {
                throw new AssertionError("the class is in this module", e);
            }
        }
        return instance;
    }

    /** Creates queues for streams, to be closed. */
    public abstract SharedQueues openQueues() throws RdmaException;

    /**
     * Creates a stream that is not connected.
     *
     * @param changed called whenever the stream may have become ready for something, by any thread and maybe with a
     *        lock held: must neither throw nor wait, nor use the stream
     */
    public abstract RdmaStream open(StreamSettings settings, SharedQueues queues, Runnable changed)
            throws RdmaException;

    /**
     * Has an event loop wait for a stream with queues of its own, by {@link #file} instead of {@code fd()}, which would
     * open two files more.
     *
     * @param wake called while the loop sleeps, whenever it has to look at the stream, by any thread and with a lock
     *        held: must neither throw nor wait, nor use the stream. Also called when there is a file.
     */
    public abstract void attach(RdmaStream stream, Runnable wake);

    /** Returns the file that is readable after {@code arm()} when something has arrived, -1 before there is one. */
    public abstract int file(RdmaStream stream);

    /** Listens at an address, for {@link #nextRequest} instead of {@code accept()}. */
    public abstract RdmaStreamServer listen(InetSocketAddress local, int backlog, StreamSettings settings)
            throws RdmaException;

    /** Listens for streams at an address of one family, even if it is a wildcard. */
    public abstract RdmaStreamServer listenExactly(InetSocketAddress local, int backlog, StreamSettings settings)
            throws RdmaException;

    /** Takes a request to connect, null if there is none. */
    public abstract @Nullable Request nextRequest(RdmaStreamServer server) throws RdmaException;

    /**
     * The queues of some streams: those of each device that they use, and one file for all. May be used by any thread;
     * several event loops may drive them.
     */
    public interface SharedQueues {
        /** Takes some of the completions that are there, for all streams. Returns whether there were any. */
        boolean poll();

        /** Prepares the file for a sleep. Returns false if there is something to do. */
        boolean arm();

        /** Returns the file, which is readable after {@link #arm} when there is something to do. */
        int fd();

        /** Closes the queues as soon as the last of the streams has been closed. */
        void close();
    }

    /** A request to connect that was neither accepted nor rejected. It ends when the handshake takes too long. */
    public interface Request {
        /** Returns the address at which the peer has connected. */
        @Nullable InetSocketAddress localAddress();

        /** Returns the address of the peer. */
        @Nullable InetSocketAddress peerAddress();

        /**
         * Begins to accept it. {@code finishConnect()} of the stream says when that is done.
         *
         * @param changed as for {@link #open}
         */
        RdmaStream accept(SharedQueues queues, Runnable changed) throws RdmaException;

        /** Rejects it, soon. */
        void reject();
    }
}
