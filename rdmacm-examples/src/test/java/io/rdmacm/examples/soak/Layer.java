// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;
import java.io.EOFException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.random.RandomGenerator;

import io.netty.channel.epoll.EpollIoHandler;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.stream.StreamProtocolException;
import io.rdmacm.netty.RdmaIoHandler;
import io.rdmacm.verbs.work.WorkCompletionException;

/** A layer whose servers send back what they get, so that either side can be a process of its own. */
interface Layer {
    /** How the classes of the library report it. Streams have an end. */
    List<Class<? extends Exception>> ENDED = List.of(DisconnectedException.class, WorkCompletionException.class,
            RejectedException.class, StreamProtocolException.class, EOFException.class);

    /** All of them. */
    List<Layer> ALL = List.of(new MessageLayer(false), new MessageLayer(true), new Streams(), new NioChannels(),
            new NettyChannels("netty", RdmaIoHandler.newFactory(), false),
            new NettyChannels("netty-epoll", EpollIoHandler.newFactory(), false),
            new NettyChannels("netty-tls", RdmaIoHandler.newFactory(), true));

    /** Starts a server. */
    Server serve(Worker worker) throws Exception;

    /** Returns a client that is not connected. */
    Client client(Worker worker, RandomGenerator random) throws Exception;

    /** Returns how a client reports that this side has closed it. */
    List<Class<? extends Exception>> closed();

    /** Returns how a client reports that the peer has closed, has died, has refused it or makes no sense. */
    default List<Class<? extends Exception>> ended() {
        return ENDED;
    }

    /** Returns private data of a client that a server accepts: of streams, those of rsockets with little room. */
    default byte[] privateData() {
        // version, flags, credits; target list; buffer
        return ByteBuffer.allocate(40).put((byte) 1).put((byte) 0).putShort((short) Side.DEPTH).putInt(0)
                .putLong(0).putInt(0).putInt(2).putLong(0).putInt(0).putInt(1 << 12).array();
    }

    /** Serves any number of clients until it is closed. */
    interface Server extends Closeable {
        InetSocketAddress address();
    }

    /** Used by one thread, and closed by any, at any moment. */
    interface Client extends Closeable {
        void connect(InetSocketAddress server) throws Exception;

        /** Sends the payload of a number, and checks that it comes back. */
        void exchange(long number, int length) throws Exception;

        /** Ends its own direction, and waits for the end of the other one. */
        void end() throws Exception;
    }
}
