// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.net.SocketAddress;
import java.util.List;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketChannelNotYetConnectedTest;
import io.netty.testsuite.transport.socket.SocketConnectionAttemptTest;
import io.netty.testsuite.transport.socket.SocketShutdownOutputBySelfTest;
import io.netty.testsuite.transport.socket.WriteBeforeRegisteredTest;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NettySuite;
import io.rdmacm.netty.testing.Permutations;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Netty's tests of channels that connect. */
@RequiresRdma
@NettySuite
class NettyClientDeviceTest {
    @Nested
    class ChannelNotYetConnected extends SocketChannelNotYetConnectedTest {
        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return Permutations.clients();
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
    class ConnectionAttempt extends SocketConnectionAttemptTest {
        // These connect to the loopback address.
        @Test
        @Override
        public void testConnectRefused(TestInfo info) throws Throwable {
            RdmaTestDevice.assumeNotIwarp("no device of iWARP leads to the loopback address");
            super.testConnectRefused(info);
        }

        @Test
        @Override
        public void testConnectRefusedHalfClosure(TestInfo info) throws Throwable {
            RdmaTestDevice.assumeNotIwarp("no device of iWARP leads to the loopback address");
            super.testConnectRefusedHalfClosure(info);
        }

        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return Permutations.clients();
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
    class ShutdownOutputBySelf extends SocketShutdownOutputBySelfTest {
        // Not a test here: Netty has disabled it, without a reason, for all transports.
        @Override
        public void testWriteAfterShutdownOutputNoWritabilityChange(TestInfo info) throws Throwable {
            super.testWriteAfterShutdownOutputNoWritabilityChange(info);
        }

        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return Permutations.clients();
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
    class WriteBeforeRegistered extends WriteBeforeRegisteredTest {
        @Override
        protected List<BootstrapFactory<Bootstrap>> newFactories() {
            return Permutations.clients();
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
