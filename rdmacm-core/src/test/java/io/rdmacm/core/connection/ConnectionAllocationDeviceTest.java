// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.ThreadMXBean;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the ways of a message allocate on the Java heap, once they are compiled. */
@RequiresRdma
class ConnectionAllocationDeviceTest {
    private static final int LENGTH = 64;
    private static final int MESSAGE_OBJECT = 24;
    private static final int ITERATIONS = 2_000;
    // The compilers run beside this thread: a slow machine needs more rounds until they are done.
    private static final int MOST_ROUNDS = 100;

    // C1, to which an emulated guest keeps, cannot leave out any allocation, such as those of the JDK in each downcall.
    private static final int LITTLE = isOptimizing() ? 100 : 300;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** A round trip of one message. */
    @FunctionalInterface
    private interface Work {
        void run() throws Exception;
    }

    private static boolean isOptimizing() {
        return ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).getVMOption("TieredStopAtLevel")
                .getValue().equals("4");
    }

    /** The least that a round has allocated for each of its iterations, in the current thread. */
    private double bytesPerOperation(double wanted, Work work) throws Exception {
        double least = Double.MAX_VALUE;
        for (int round = 0; round < MOST_ROUNDS && least > wanted; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < ITERATIONS; i++) {
                work.run();
            }
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            least = Math.min(least, (double) allocated / ITERATIONS);
        }
        return least;
    }

    /** Sends each message back, from a region and with a handler for the end of the operation. */
    private static final class Echo implements ConnectionHandler {
        private MemoryRegion region;
        private long received;
        private long sent;
        private Exception failure;
        private final OperationHandler handler = (connection, context, reason) -> {
            if (reason != null) {
                failure = reason;
            }
            sent += context;
        };

        @Override
        public void onConnect(Connection connection) {
            try {
                region = connection.protectionDomain().allocate(LENGTH, AccessFlag.LOCAL_WRITE);
            } catch (RdmaException e) {
                failure = e;
            }
        }

        @Override
        public void onMessage(Connection connection, Message message) {
            received += message.length();
            send(connection);
        }

        void send(Connection connection) {
            try {
                if (!connection.queue().send(region, 0, LENGTH, handler, 1)) {
                    failure = new Exception("the queue is full");
                }
            } catch (RdmaException e) {
                failure = e;
            }
        }
    }

    /** Both loops are driven by this thread, so that all that they do is measured. */
    @Test
    void anEchoBetweenHandlersAllocatesTheMessageObjects() throws Exception {
        try (Peers peers = new Peers()) {
            InetAddress address = peers.listener.address().getAddress();
            ConnectionLoop serving = peers.servers.openLoop(address, LoopSettings.defaults());
            ConnectionLoop asking = peers.clients.openLoop(address, LoopSettings.builder()
                    .sharedReceives(64, LENGTH).build());
            Echo server = new Echo();
            Echo client = new Echo();
            Listener listener = peers.servers.listen(new InetSocketAddress(address, 0), 4,
                    ConnectionSettings.builder().loops(serving).handler(server).build());
            listener.acceptAll();
            Connection connection = peers.clients.connect(listener.address(),
                    ConnectionSettings.builder().loops(asking).handler(client).build(), Peers.TIMEOUT);
            while (client.region == null || server.region == null) {
                serving.progress();
                asking.progress();
            }
            client.send(connection);
            double bytes = bytesPerOperation(2 * MESSAGE_OBJECT, () -> {
                long until = client.received + LENGTH;
                while (client.received < until) {
                    if (serving.progress() == 0 && asking.progress() == 0) {
                        Thread.yield();
                    }
                }
            });
            assertThat(client.failure).isNull();
            assertThat(server.failure).isNull();
            assertThat(server.sent).isPositive();
            assertThat(client.received).isGreaterThanOrEqualTo((long) LENGTH * ITERATIONS);
            client.region.close();
            server.region.close();
            // two messages
            assertThat(bytes).isLessThanOrEqualTo(2 * MESSAGE_OBJECT);
        }
    }

    @ParameterizedTest
    @EnumSource
    void waitingAllocatesLittle(Policy policy) throws Exception {
        ConnectionSettings settings = ConnectionSettings.builder().waiting(policy.policy).build();
        try (Peers peers = new Peers(4, settings); Peers.Pair pair = peers.connect(settings)) {
            Background<Void> echo = Background.run(() -> echo(pair.server()));
            byte[] data = new byte[LENGTH];
            double bytes = bytesPerOperation(LITTLE, () -> {
                pair.client().send(data, Peers.TIMEOUT);
                pair.client().receive(Peers.TIMEOUT).close();
            });
            pair.client().close();
            echo.result();
            assertThat(bytes).isLessThanOrEqualTo(LITTLE);
        }
    }

    /** How to wait. */
    enum Policy {
        SPINNING(WaitPolicy.spinAlways()), SLEEPING(WaitPolicy.sleepAtOnce()), DEFAULT(WaitPolicy.defaults());

        private final WaitPolicy policy;

        Policy(WaitPolicy policy) {
            this.policy = policy;
        }
    }

    private static void echo(Connection connection) throws Exception {
        try {
            while (true) {
                try (Message message = connection.receive(Peers.TIMEOUT)) {
                    connection.send(message.memory(), Peers.TIMEOUT);
                }
            }
        } catch (DisconnectedException e) {
            // the end
        }
    }
}
