// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.net.InetSocketAddress;
import java.time.Duration;

import io.rdmacm.verbs.error.RdmaException;

/**
 * Listens for {@link RdmaStream}s at an address ({@code rlisten}). Handshakes are carried on in the background by a
 * virtual thread, and established streams wait until they are accepted. When the backlog is full, further ones are
 * rejected.
 *
 * <p>All methods may be called from any number of threads; {@link #close()} wakes those that wait.
 */
public final class RdmaStreamServer implements AutoCloseable {
    private RdmaStreamServer() {
    }

    /**
     * Listens at an address, with default settings and a backlog of 128.
     *
     * @param local the address; port 0 means any free port, the wildcard address all devices
     * @return the server, to be closed
     * @throws RdmaException as {@link #listen(InetSocketAddress, int, StreamSettings)}
     */
    public static RdmaStreamServer listen(InetSocketAddress local) throws RdmaException {
        return listen(local, 128, StreamSettings.defaults());
    }

    /**
     * Listens at an address ({@code rsocket}, {@code rbind} and {@code rlisten}).
     *
     * @param local the address; port 0 means any free port, the wildcard address all devices
     * @param backlog how many streams can wait to be accepted, at least 1
     * @param settings the settings of the streams that are accepted
     * @return the server, to be closed
     * @throws RdmaException EADDRINUSE when the port is in use; ENODEV when the address belongs to no RDMA device
     */
    public static RdmaStreamServer listen(InetSocketAddress local, int backlog, StreamSettings settings)
            throws RdmaException {
        throw new UnsupportedOperationException();
    }

    /** {@return the address, with the actual port; it stays available after a close} */
    public InetSocketAddress localAddress() {
        throw new UnsupportedOperationException();
    }

    /** {@return the settings of the streams that are accepted} */
    public StreamSettings settings() {
        throw new UnsupportedOperationException();
    }

    /**
     * Takes an established stream, without waiting ({@code raccept}).
     *
     * @return the stream, to be closed; null when there is none
     * @throws RdmaException when the device was removed, or had no resources for a stream
     */
    public RdmaStream accept() throws RdmaException {
        throw new UnsupportedOperationException();
    }

    /**
     * Waits for an established stream, and takes it ({@code raccept}).
     *
     * @param timeout the longest time to wait
     * @return the stream, to be closed
     * @throws io.rdmacm.verbs.error.RdmaTimeoutException when there was none in time
     * @throws io.rdmacm.verbs.error.RdmaClosedException when another thread closed the server
     * @throws RdmaException when the device was removed, or had no resources for a stream
     * @throws InterruptedException when this thread was interrupted
     */
    public RdmaStream accept(Duration timeout) throws RdmaException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /** {@return whether {@link #accept()} would return a stream or throw an exception} */
    public boolean isAcceptable() {
        throw new UnsupportedOperationException();
    }

    /**
     * Returns a file descriptor for event loops, which is readable as long as {@link #isAcceptable()} is true. It needs
     * no arming.
     *
     * @return the file descriptor, which belongs to this server; do not read or close it
     */
    public int fd() {
        throw new UnsupportedOperationException();
    }

    /** {@return whether the server has not been closed} */
    public boolean isOpen() {
        throw new UnsupportedOperationException();
    }

    /**
     * Stops listening. Streams that were accepted stay open; those that were not are closed. Threads that wait throw
     * RdmaClosedException. Has no effect when called again.
     *
     * @throws RdmaException when an object could not be closed
     */
    @Override
    public void close() throws RdmaException {
        throw new UnsupportedOperationException();
    }
}
