// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.net.SocketAddress;
import java.util.List;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.ServerSocketSuspendTest;
import io.netty.testsuite.transport.socket.SocketShutdownOutputByPeerTest;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NettySuite;
import io.rdmacm.netty.testing.Permutations;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Nested;

/** Netty's tests of channels that accept. */
@RequiresRdma
@NettySuite
class NettyServerDeviceTest {
    @Nested
    class ServerSocketSuspend extends ServerSocketSuspendTest {
        @Override
        protected List<BootstrapFactory<ServerBootstrap>> newFactories() {
            return Permutations.servers();
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
    class ShutdownOutputByPeer extends SocketShutdownOutputByPeerTest {
        @Override
        protected List<BootstrapFactory<ServerBootstrap>> newFactories() {
            return Permutations.servers();
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
