// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.UnreachableException;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How a link connects, and how it ends. */
@FakeRdmaCm.With
class LinkTest {
    private static final Duration LONG = Duration.ofDays(1);

    private CmLoop loop;

    /** A link without queues. */
    private static final class Bare extends Link {
        private final Semaphore changes = new Semaphore(0);
        private final Duration step;
        private volatile Runnable prepares = () -> { };
        private volatile Runnable confirms = () -> { };

        Bare(CmLoop loop, Duration step) throws RdmaException {
            super(loop);
            this.step = step;
            onChange(changes::release);
            open();
            resolve(new InetSocketAddress(InetAddress.ofLiteral("192.0.2.7"), 4791));
        }

        @Override
        protected ConnectionParameters prepare() {
            prepares.run();
            return ConnectionParameters.builder().queuePairNumber(1).build();
        }

        @Override
        protected void confirmed(CmEvent event) {
            confirms.run();
        }

        @Override
        protected void free() {
        }

        @Override
        protected Duration stepTime() {
            return step;
        }

        void happens(CmEventType event) throws InterruptedException {
            FakeRdmaCm.event(id(), event);
            until(() -> true);
        }

        /** Waits for at least one change. */
        void until(BooleanSupplier condition) throws InterruptedException {
            do {
                assertThat(changes.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
            } while (!condition.getAsBoolean());
        }
    }

    @BeforeEach
    void start() throws Exception {
        loop = CmLoop.start();
    }

    @AfterEach
    void end() throws Exception {
        loop.closeAll();
    }

    private Bare connecting(Duration step) throws Exception {
        Bare link = new Bare(loop, step);
        link.happens(CmEventType.ADDR_RESOLVED);
        FakeRdmaCm.event(link.id(), CmEventType.ROUTE_RESOLVED);
        link.until(() -> !FakeRdmaCm.calls("rdma_connect").isEmpty());
        return link;
    }

    private Bare connected() throws Exception {
        Bare link = connecting(LONG);
        FakeRdmaCm.event(link.id(), CmEventType.ESTABLISHED);
        link.until(link::isEstablished);
        return link;
    }

    @Test
    void theAnswerOfThePeerIsNotAwaitedForEver() throws Exception {
        Bare link = connecting(Duration.ofMillis(20));
        link.until(() -> link.failure() != null);
        assertThat(link.failure()).isInstanceOf(RdmaTimeoutException.class).hasMessageContaining("192.0.2.7");
        assertThat(FakeRdmaCm.calls("rdma_connect")).hasSize(1);
    }

    /** Or the answers to many connects would be late, because the queues of all take long. */
    @Test
    void anAnswerIsNotHeldUpByConnectsThatHaveNotBegun() throws Exception {
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        Bare first = new Bare(loop, LONG);
        Bare second = new Bare(loop, LONG);
        first.prepares = () -> {
            order.add("the first begins");
            FakeRdmaCm.event(first.id(), CmEventType.ESTABLISHED);
        };
        first.confirms = () -> order.add("the first is answered");
        second.prepares = () -> order.add("the second begins");
        first.happens(CmEventType.ADDR_RESOLVED);
        second.happens(CmEventType.ADDR_RESOLVED);
        loop.run(() -> {
            FakeRdmaCm.event(first.id(), CmEventType.ROUTE_RESOLVED);
            FakeRdmaCm.event(second.id(), CmEventType.ROUTE_RESOLVED);
        });
        second.until(() -> order.contains("the second begins"));
        assertThat(order).containsExactly("the first begins", "the first is answered", "the second begins");
    }

    @Test
    void aLinkThatIsStoppedTakesNoFurtherStep() throws Exception {
        Bare link = new Bare(loop, LONG);
        link.stop();
        link.happens(CmEventType.ADDR_RESOLVED);
        assertThat(FakeRdmaCm.calls("rdma_resolve_route")).isEmpty();
        link.close();
        assertThat(link.id().isOpen()).isFalse();
    }

    /** The kernel says so when the hardware address of the peer changes. It keeps the connection. */
    @Test
    void aPeerThatCannotBeReachedAnyMoreIsDisconnected() throws Exception {
        Bare link = connected();
        FakeRdmaCm.event(link.id(), CmEventType.UNREACHABLE);
        link.until(link::isDisconnected);
        assertThat(link.failure()).isInstanceOf(UnreachableException.class);
        assertThat(FakeRdmaCm.calls("rdma_disconnect")).hasSize(1);
    }

    @Test
    void aHandshakeThatFailsIsNotDisconnected() throws Exception {
        Bare link = connecting(LONG);
        FakeRdmaCm.event(link.id(), CmEventType.UNREACHABLE);
        link.until(() -> link.failure() != null);
        assertThat(link.isDisconnected()).isFalse();
        assertThat(FakeRdmaCm.calls("rdma_disconnect")).isEmpty();
    }

    @Test
    void aConnectionIsAnnouncedBeforeItEnds() throws Exception {
        Bare link = connecting(LONG);
        FakeRdmaCm.event(link.id(), CmEventType.ESTABLISHED);
        FakeRdmaCm.event(link.id(), CmEventType.DISCONNECTED);
        link.until(link::isDisconnected);
        assertThat(link.isEstablished()).isTrue();
        assertThat(link.failure()).isNull();
    }
}
