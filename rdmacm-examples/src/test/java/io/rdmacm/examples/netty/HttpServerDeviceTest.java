// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.rdmacm.examples.testing.Preload;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.netty.RdmaIoHandler;
import io.rdmacm.netty.RdmaServerStreamChannel;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.Requirements;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An HTTP server on Netty, and an unchanged curl that preloads the C library of rsockets. */
@RequiresRdma
class HttpServerDeviceTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 10, 100_000, 10_000_000})
    void curlFetches(int length, @TempDir Path folder) throws Exception {
        Requirements.requireProgram("curl", "curl");
        Path preload = Preload.library();
        String host = RdmaTestDevice.get().ipv4().getHostAddress();
        Path file = folder.resolve("fetched");
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(RdmaIoHandler.newFactory());
        try {
            Channel server = new ServerBootstrap().group(loops).channel(RdmaServerStreamChannel.class)
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline().addLast(new HttpServerCodec(), new HttpAnswers());
                        }
                    }).bind(host, 0).sync().channel();
            int port = ((InetSocketAddress) server.localAddress()).getPort();
            ProcessBuilder curl = new ProcessBuilder("curl", "-sS", "--noproxy", "*", "-o", file.toString(), "-w",
                    "%{http_code}", "http://" + host + ":" + port + "/" + length);
            curl.environment().put("LD_PRELOAD", preload.toString());
            try (Program client = Program.process(curl)) {
                assertThat(client.result()).isEqualTo(new Program.Result(0, "200", ""));
            }
        } finally {
            loops.shutdownGracefully(0, Program.LIMIT.toSeconds(), TimeUnit.SECONDS).sync();
        }
        byte[] expected = new byte[length];
        for (int i = 0; i < length; i++) {
            expected[i] = (byte) ('a' + i % 26);
        }
        assertThat(Files.readAllBytes(file)).isEqualTo(expected);
    }
}
