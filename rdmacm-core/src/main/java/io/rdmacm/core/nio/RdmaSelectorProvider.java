// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;

import io.rdmacm.core.internal.nio.RdmaSelector;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.StreamSettings;

/**
 * Channels and selectors of {@link java.nio.channels} over RDMA: a program that is written for NIO changes where it
 * gets them from, and nothing else. Its peers may be Java programs over RDMA, and all that speak the protocol of
 * rsockets, see {@link RdmaStream}.
 *
 * {@snippet :
 * SelectorProvider rdma = RdmaSelectorProvider.instance();
 * Selector selector = rdma.openSelector();
 * ServerSocketChannel server = rdma.openServerSocketChannel();
 * server.bind(address).configureBlocking(false);
 * server.register(selector, SelectionKey.OP_ACCEPT);
 * }
 *
 * <p>A program that calls {@link java.nio.channels.SocketChannel#open()} and its kin is not changed at all, but started
 * with {@code -Djava.nio.channels.spi.SelectorProvider=io.rdmacm.core.nio.RdmaSelectorProvider}. Then all channels of
 * the JVM are over RDMA. This class is never found by {@link java.util.ServiceLoader}, because the first provider that
 * is found becomes that of the whole JVM.
 *
 * <p>The addresses are those of RDMA devices: not localhost, and no Unix domain sockets. A selector takes channels of
 * this provider only, and a selector of the JDK takes none of them:
 * {@link java.nio.channels.IllegalSelectorException}. {@link #openPipe()} and {@link #openDatagramChannel()} give those
 * of the JDK. The guide ({@code docs/guide/streams.md}) lists everything that differs from TCP.
 *
 * <p>Failures are {@link io.rdmacm.verbs.error.RdmaException RdmaException}s, which say more than those of TCP, but
 * {@link java.net.ConnectException} and {@link java.net.BindException} where the channels of the JDK throw these.
 *
 * <p>Thread-safe, as are its channels, selectors and keys to the extent that {@link java.nio.channels} demands.
 */
public final class RdmaSelectorProvider extends SelectorProvider {
    private static final RdmaSelectorProvider INSTANCE = new RdmaSelectorProvider();

    private final StreamSettings settings;

    /** Creates a provider with default settings, for {@code -Djava.nio.channels.spi.SelectorProvider}. */
    public RdmaSelectorProvider() {
        this(StreamSettings.defaults());
    }

    /**
     * Creates a provider.
     *
     * @param settings what channels begin with; programs can change most of it by options. Selectors poll, before they
     *        sleep, as {@link StreamSettings#waiting()} says
     */
    public RdmaSelectorProvider(StreamSettings settings) {
        this.settings = Objects.requireNonNull(settings, "settings");
    }

    /** {@return a provider with default settings} */
    public static RdmaSelectorProvider instance() {
        return INSTANCE;
    }

    /** {@return the settings that channels begin with} */
    public StreamSettings settings() {
        return settings;
    }

    /**
     * Opens a selector, for channels of this provider.
     *
     * @return the selector, to be closed
     * @throws IOException EMFILE when the limit of open files is reached
     */
    @Override
    public AbstractSelector openSelector() throws IOException {
        return new RdmaSelector(this, settings.waiting().spin(), foreign -> null);
    }

    /** {@return a new channel that is not connected} */
    @Override
    public SocketChannel openSocketChannel() {
        return new RdmaSocketChannel(this, (ProtocolFamily) null);
    }

    /**
     * Opens a channel for addresses of one family.
     *
     * @param family {@code INET}, or {@code INET6} for both
     * @return a new channel that is not connected
     * @throws UnsupportedOperationException if it is another family
     */
    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) {
        return new RdmaSocketChannel(this, Addresses.requireInternet(family));
    }

    /** {@return a new channel that is not bound} */
    @Override
    public ServerSocketChannel openServerSocketChannel() {
        return new RdmaServerSocketChannel(this, null);
    }

    /**
     * Opens a channel for addresses of one family.
     *
     * @param family {@code INET}, or {@code INET6} for both
     * @return a new channel that is not bound
     * @throws UnsupportedOperationException if it is another family
     */
    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) {
        return new RdmaServerSocketChannel(this, Addresses.requireInternet(family));
    }

    /**
     * Opens a pipe of the JDK, for selectors of the JDK.
     *
     * @throws UnsupportedOperationException if this class is the provider of the JVM, and the one of the JDK cannot be
     *         reached; the message names the option for that
     */
    @Override
    public Pipe openPipe() throws IOException {
        return JdkProvider.get().openPipe();
    }

    /**
     * Opens a datagram channel of the JDK, for selectors of the JDK.
     *
     * @throws UnsupportedOperationException as {@link #openPipe()}
     */
    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        return JdkProvider.get().openDatagramChannel();
    }

    /**
     * Opens a datagram channel of the JDK, for selectors of the JDK.
     *
     * @throws UnsupportedOperationException as {@link #openPipe()}
     */
    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return JdkProvider.get().openDatagramChannel(family);
    }
}
