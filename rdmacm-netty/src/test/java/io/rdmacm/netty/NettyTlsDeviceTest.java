// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.net.SocketAddress;
import java.util.List;
import java.util.stream.IntStream;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.SocketSslClientRenegotiateTest;
import io.netty.testsuite.transport.socket.SocketSslEchoTest;
import io.netty.testsuite.transport.socket.SocketSslGreetingTest;
import io.netty.testsuite.transport.socket.SocketSslSessionReuseTest;
import io.netty.testsuite.transport.socket.SocketStartTlsTest;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NettySuite;
import io.rdmacm.netty.testing.Permutations;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Netty's tests of TLS over connected channels. SslEcho takes every 11th combination of its parameters, and all of them
 * with {@code -Dio.rdmacm.netty.all=true}.
 */
@RequiresRdma
@NettySuite
class NettyTlsDeviceTest {
    @Nested
    class SslClientRenegotiate extends SocketSslClientRenegotiateTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return Permutations.pairs();
        }

        @Override
        protected List<ByteBufAllocator> newAllocators() {
            return Permutations.allocators();
        }

        @Override
        protected SocketAddress newSocketAddress() {
            return Loops.anyPort();
        }
    }

    @Nightly
    @Nested
    class SslEcho extends SocketSslEchoTest {
        // Each combination takes 20 seconds in an emulated guest. The step takes both values of each parameter.
        private static final int STEP = Permutations.ALL ? 1 : 11;

        static List<Object[]> combinations() throws Exception {
            List<Object[]> all = List.copyOf(data());
            return IntStream.range(0, all.size()).filter(i -> i % STEP == 0).mapToObj(all::get).toList();
        }

        @Override
        @ParameterizedTest
        @MethodSource("combinations")
        public void testSslEcho(SslContext serverContext, SslContext clientContext, Renegotiation renegotiation,
                boolean serverDelegates, boolean clientDelegates, boolean autoRead, boolean chunked,
                boolean composite, TestInfo info) throws Throwable {
            super.testSslEcho(serverContext, clientContext, renegotiation, serverDelegates, clientDelegates, autoRead,
                    chunked, composite, info);
        }

        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return Permutations.pairs();
        }

        @Override
        protected List<ByteBufAllocator> newAllocators() {
            return Permutations.allocators();
        }

        @Override
        protected SocketAddress newSocketAddress() {
            return Loops.anyPort();
        }
    }

    @Nested
    class SslGreeting extends SocketSslGreetingTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return Permutations.pairs();
        }

        @Override
        protected List<ByteBufAllocator> newAllocators() {
            return Permutations.allocators();
        }

        @Override
        protected SocketAddress newSocketAddress() {
            return Loops.anyPort();
        }
    }

    @Nested
    class SslSessionReuse extends SocketSslSessionReuseTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return Permutations.pairs();
        }

        @Override
        protected List<ByteBufAllocator> newAllocators() {
            return Permutations.allocators();
        }

        @Override
        protected SocketAddress newSocketAddress() {
            return Loops.anyPort();
        }
    }

    @Nested
    class StartTls extends SocketStartTlsTest {
        @Override
        protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
            return Permutations.pairs();
        }

        @Override
        protected List<ByteBufAllocator> newAllocators() {
            return Permutations.allocators();
        }

        @Override
        protected SocketAddress newSocketAddress() {
            return Loops.anyPort();
        }
    }
}
