// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.net.SocketAddress;
import java.util.List;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.SocketSslClientRenegotiateTest;
import io.netty.testsuite.transport.socket.SocketSslEchoTest;
import io.netty.testsuite.transport.socket.SocketSslGreetingTest;
import io.netty.testsuite.transport.socket.SocketSslSessionReuseTest;
import io.netty.testsuite.transport.socket.SocketStartTlsTest;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NettySuite;
import io.rdmacm.netty.testing.Permutations;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Nested;

/** Netty's tests of TLS over connected channels. */
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

    @Nested
    class SslEcho extends SocketSslEchoTest {
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
