// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.netty;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.rdmacm.examples.support.ExampleProgram;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.netty.RdmaIoHandler;
import io.rdmacm.netty.RdmaServerStreamChannel;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code http_server}: an HTTP server on Netty that answers over RDMA. Apart from the class of the channel
 * and the event loop, it is what it would be over TCP.
 */
@Command(name = "http_server", header = "An HTTP server on Netty, over RDMA.",
        description = "Answers /N with N bytes. Clients that know only sockets preload librspreload.so.",
        footer = {"%nFor example:", "  rdmacm http_server -a 192.168.99.1 -p 8080",
            "  LD_PRELOAD=librspreload.so curl http://192.168.99.1:8080/1000"})
final class HttpServer extends ExampleProgram {
    private static final int SECONDS = 10;

    @Option(names = "-a", paramLabel = "ADDR", defaultValue = "0.0.0.0", converter = HostConverter.class,
            description = "The address to listen on; by default every IPv4 address.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "0",
            description = "The port; by default a free one, which is printed.")
    private int port;

    @Override
    protected void run() throws InterruptedException {
        requirePort(port, false);
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(RdmaIoHandler.newFactory());
        try {
            Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline().addLast(new HttpServerCodec(), new HttpAnswers());
                        }
                    }).bind(new InetSocketAddress(address, port)).sync().channel();
            print("listening on port " + ((InetSocketAddress) server.localAddress()).getPort());
            server.closeFuture().sync();
        } finally {
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        }
    }
}
