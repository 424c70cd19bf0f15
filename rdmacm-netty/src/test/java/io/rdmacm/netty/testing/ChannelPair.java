// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty.testing;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.rdmacm.netty.RdmaServerStreamChannel;
import io.rdmacm.netty.RdmaStreamChannel;

/** The two ends of a connection, in an event loop each. */
public final class ChannelPair implements AutoCloseable {
    private final EventLoopGroup servers;
    private final EventLoopGroup clients;
    private final Recorder atServer = new Recorder();
    private final Recorder atClient = new Recorder();
    private final SocketChannel server;
    private final SocketChannel client;

    private ChannelPair(Loops loops, Consumer<ServerBootstrap> serverOptions, Consumer<Bootstrap> clientOptions)
            throws InterruptedException {
        servers = loops.group();
        clients = loops.group();
        ServerBootstrap listening = new ServerBootstrap().group(servers).channel(RdmaServerStreamChannel.class)
                .childHandler(atServer);
        serverOptions.accept(listening);
        Channel listener = listening.bind(Loops.anyPort()).sync().channel();
        Bootstrap connecting = new Bootstrap().group(clients).channel(RdmaStreamChannel.class).handler(atClient);
        clientOptions.accept(connecting);
        connecting.connect(listener.localAddress()).sync();
        client = atClient.channel();
        server = atServer.channel();
        listener.close().sync();
    }

    /** Connects two channels. */
    public static ChannelPair connect(Loops loops) throws InterruptedException {
        return connect(loops, server -> { }, client -> { });
    }

    /** Connects two channels with options. */
    public static ChannelPair connect(Loops loops, Consumer<ServerBootstrap> serverOptions,
            Consumer<Bootstrap> clientOptions) throws InterruptedException {
        return new ChannelPair(loops, serverOptions, clientOptions);
    }

    /** Opens what is opened once and kept, so that tests can compare what is in use before and after them. */
    public static void warmUp() throws InterruptedException {
        for (Loops loops : Loops.values()) {
            try (ChannelPair pair = connect(loops)) {
                pair.client().close().sync();
                pair.atServer().next();
            }
        }
    }

    /** Random bytes, the same for the same seed. */
    public static byte[] data(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** Returns the end that connected. */
    public SocketChannel client() {
        return client;
    }

    /** Returns the end that was accepted. */
    public SocketChannel server() {
        return server;
    }

    /** Returns what happens at the client. */
    public Recorder atClient() {
        return atClient;
    }

    /** Returns what happens at the server. */
    public Recorder atServer() {
        return atServer;
    }

    /** Closes the channels, and ends the event loops. */
    @Override
    public void close() {
        client.close().syncUninterruptibly();
        server.close().syncUninterruptibly();
        end(clients);
        end(servers);
    }

    /**
     * Ends the event loops of a group. Channels have to be closed before: Netty may end a loop that is awake without
     * closing its channels if it is not given a quiet period.
     */
    public static void end(EventLoopGroup group) {
        end(group, 0);
    }

    /** Ends the event loops of a group when nothing was to be done for some seconds. */
    public static void end(EventLoopGroup group, long quietSeconds) {
        group.shutdownGracefully(quietSeconds, Recorder.SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
