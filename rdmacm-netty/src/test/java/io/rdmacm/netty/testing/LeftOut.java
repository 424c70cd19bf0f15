// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty.testing;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/** The tests of Netty's suite that do not apply to streams, each with its reason; and how many have run. */
public final class LeftOut implements ExecutionCondition, TestWatcher {
    private static final String TCP_PEER = "the peer in the test is a TCP socket of the JDK, which has no RDMA";
    private static final String LOOPBACK = "uses a loopback address, and there is no RDMA over the loopback interface";
    private static final String NO_RESET = "needs the reset that SO_LINGER 0 causes with TCP: streams have none, and"
            + " the peer sees an orderly close";

    private static final Map<String, String> REASONS = Map.ofEntries(
            Map.entry("SocketShutdownOutputByPeerTest.testShutdownOutput", TCP_PEER),
            Map.entry("SocketShutdownOutputByPeerTest.testShutdownOutputWithoutOption", TCP_PEER),
            Map.entry("SocketShutdownOutputBySelfTest.testShutdownOutput", TCP_PEER),
            Map.entry("SocketShutdownOutputBySelfTest.testShutdownOutputAfterClosed", TCP_PEER),
            Map.entry("SocketShutdownOutputBySelfTest.testShutdownOutputSoLingerNoAssertError", TCP_PEER),
            Map.entry("SocketShutdownOutputBySelfTest.testShutdownSoLingerNoAssertError", TCP_PEER),
            Map.entry("SocketChannelNotYetConnectedTest.readMustBePendingUntilChannelIsActive", TCP_PEER),
            Map.entry("SocketMultipleConnectTest.testMultipleConnect", LOOPBACK),
            Map.entry("SocketRstTest.testSoLingerZeroCausesOnlyRstOnClose", NO_RESET),
            Map.entry("SocketHalfClosedTest.testAutoCloseFalseDoesShutdownOutput", NO_RESET),
            Map.entry("SocketHalfClosedTest.testAllDataReadEventTriggeredAfterHalfClosure",
                    "wants to be told of the end of the stream although it does not read, as only epoll does; Netty"
                            + " skips it for NIO, and streams are like NIO here"),
            Map.entry("SocketSslSessionReuseTest.testSslSessionTrustManagerResumption",
                    "needs OpenSSL (netty-tcnative), which says nothing about the transport"),
            Map.entry("SocketConnectionAttemptTest.testConnectCancellation",
                    "needs a host on the internet that does not answer; ConnectDeviceTest has its own"));

    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(LeftOut.class);

    /** What was done; printed when all classes have run. */
    private static final class Counts implements AutoCloseable {
        private final AtomicInteger passed = new AtomicInteger();
        private final AtomicInteger failed = new AtomicInteger();
        private final AtomicInteger leftOut = new AtomicInteger();

        @Override
        public void close() {
            System.out.printf("Netty's transport tests: %d run, %d passed, %d left out%n",
                    passed.get() + failed.get(), passed.get(), leftOut.get());
        }
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return context.getTestMethod().flatMap(method -> Optional.ofNullable(
                        REASONS.get(context.getRequiredTestClass().getSuperclass().getSimpleName() + "."
                                + method.getName())))
                .map(ConditionEvaluationResult::disabled)
                .orElse(ConditionEvaluationResult.enabled("applies to streams"));
    }

    @Override
    public void testSuccessful(ExtensionContext context) {
        counts(context).passed.incrementAndGet();
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        counts(context).failed.incrementAndGet();
    }

    @Override
    public void testAborted(ExtensionContext context, Throwable cause) {
        counts(context).leftOut.incrementAndGet();
    }

    @Override
    public void testDisabled(ExtensionContext context, Optional<String> reason) {
        counts(context).leftOut.incrementAndGet();
    }

    private static Counts counts(ExtensionContext context) {
        return context.getRoot().getStore(NAMESPACE).getOrComputeIfAbsent(Counts.class, key -> new Counts(),
                Counts.class);
    }
}
