// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.AbstractSocketReuseFdTest;
import io.netty.testsuite.transport.socket.CompositeBufferGatheringWriteTest;
import io.netty.testsuite.transport.socket.SocketAddressesTest;
import io.netty.testsuite.transport.socket.SocketAutoReadTest;
import io.netty.testsuite.transport.socket.SocketBufReleaseTest;
import io.netty.testsuite.transport.socket.SocketCancelWriteTest;
import io.netty.testsuite.transport.socket.SocketCloseForciblyTest;
import io.netty.testsuite.transport.socket.SocketConditionalWritabilityTest;
import io.netty.testsuite.transport.socket.SocketConnectTest;
import io.netty.testsuite.transport.socket.SocketDataReadInitialStateTest;
import io.netty.testsuite.transport.socket.SocketEchoTest;
import io.netty.testsuite.transport.socket.SocketExceptionHandlingTest;
import io.netty.testsuite.transport.socket.SocketFileRegionTest;
import io.netty.testsuite.transport.socket.SocketFixedLengthEchoTest;
import io.netty.testsuite.transport.socket.SocketGatheringWriteTest;
import io.netty.testsuite.transport.socket.SocketHalfClosedTest;
import io.netty.testsuite.transport.socket.SocketMultipleConnectTest;
import io.netty.testsuite.transport.socket.SocketObjectEchoTest;
import io.netty.testsuite.transport.socket.SocketReadPendingTest;
import io.netty.testsuite.transport.socket.SocketRstTest;
import io.netty.testsuite.transport.socket.SocketSpdyEchoTest;
import io.netty.testsuite.transport.socket.SocketStringEchoTest;
import io.netty.testsuite.transport.socket.TrafficShapingHandlerTest;
import io.rdmacm.netty.testing.Loops;
import io.rdmacm.netty.testing.NettySuite;
import io.rdmacm.netty.testing.Permutations;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/** Netty's tests of connected channels. */
@RequiresRdma
@NettySuite
class NettySocketDeviceTest {
    @Nightly
    @Nested
    class CompositeBufferGatheringWrite extends CompositeBufferGatheringWriteTest {
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
    class ReuseFd extends AbstractSocketReuseFdTest {
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
    class Addresses extends SocketAddressesTest {
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

        @Override
        protected void assertAddress(SocketAddress address) {
            assertThat(((InetSocketAddress) address).getPort()).isPositive();
            assertThat(((InetSocketAddress) address).getAddress()).isEqualTo(Loops.anyPort().getAddress());
        }
    }

    @Nested
    class AutoRead extends SocketAutoReadTest {
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
    class BufRelease extends SocketBufReleaseTest {
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
    class CancelWrite extends SocketCancelWriteTest {
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
    class CloseForcibly extends SocketCloseForciblyTest {
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
    class ConditionalWritability extends SocketConditionalWritabilityTest {
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
    class Connect extends SocketConnectTest {
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
    class DataReadInitialState extends SocketDataReadInitialStateTest {
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
    class Echo extends SocketEchoTest {
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
    class ExceptionHandling extends SocketExceptionHandlingTest {
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
    class FileRegion extends SocketFileRegionTest {
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
    class FixedLengthEcho extends SocketFixedLengthEchoTest {
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
    class GatheringWrite extends SocketGatheringWriteTest {
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
    class HalfClosed extends SocketHalfClosedTest {
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
    class MultipleConnect extends SocketMultipleConnectTest {
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
    class ObjectEcho extends SocketObjectEchoTest {
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
    class ReadPending extends SocketReadPendingTest {
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
    class Rst extends SocketRstTest {
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
    class SpdyEcho extends SocketSpdyEchoTest {
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
    class StringEcho extends SocketStringEchoTest {
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
    class TrafficShapingHandler extends TrafficShapingHandlerTest {
        /**
         * The lower bound of the rate says how fast the machine is: a packet that the software device loses and
         * repeats after a second is enough to miss it. That everything arrives, and not too fast, is checked anyway.
         */
        @RegisterExtension
        final TestExecutionExceptionHandler slowMachine = (context, thrown) -> {
            if (thrown instanceof AssertionFailedError e
                    && e.getMessage().startsWith("Overall Traffic not ok since <")) {
                throw new TestAbortedException("the machine is too slow for the lower bound: " + e.getMessage(), e);
            }
            throw thrown;
        };

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
