// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.testing.FakeRdmaCm;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** No request or connection is lost where there is no memory to take it: the next one who asks gets it. */
@FakeRdmaCm.With
class AcceptorTest {
    private static final Duration LONG = Duration.ofDays(1);
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private final AtomicBoolean outOfMemory = new AtomicBoolean();
    private final CountDownLatch begun = new CountDownLatch(1);
    private CmLoop loop;
    private Acceptor<Fragile> acceptor;

    /** A link without queues that cannot be put into a set where there is no memory for it. */
    private final class Fragile extends Link {
        Fragile(CmEvent request) {
            super(loop, request);
        }

        @Override
        protected ConnectionParameters prepare() {
            begun.countDown();
            // The peer is quick to confirm.
            FakeRdmaCm.event(id(), CmEventType.ESTABLISHED);
            return ConnectionParameters.builder().queuePairNumber(1).build();
        }

        @Override
        protected void confirmed(CmEvent event) {
        }

        @Override
        protected void free() {
        }

        @Override
        protected Duration stepTime() {
            return LONG;
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            if (outOfMemory.getAndSet(false)) {
                throw new OutOfMemoryError("in a test");
            }
            return System.identityHashCode(this);
        }
    }

    @BeforeEach
    void start() throws Exception {
        loop = CmLoop.start();
        acceptor = Acceptor.listen(loop, new InetSocketAddress(0),
                new Acceptor.Settings<>("test", false, 1, LONG, Fragile::new));
    }

    @AfterEach
    void end() throws Exception {
        assertThat(outOfMemory).isFalse();
        assertThat(acceptor.close(Link::close)).isTrue();
        loop.closeAll();
    }

    private void request() {
        FakeRdmaCm.call("fake_event", FakeRdmaCm.calls("rdma_listen").getFirst().arguments().getFirst(),
                CmEventType.CONNECT_REQUEST.value());
    }

    private void assertOutOfMemory(ThrowingCallable call) {
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(call);
    }

    @Test
    void aRequestIsHandedOutLater() throws Exception {
        outOfMemory.set(true);
        request();
        assertOutOfMemory(() -> acceptor.nextRequest(TIMEOUT));
        acceptor.nextRequest(Duration.ZERO).close();
    }

    @Test
    void anOfferedRequestIsTakenLater() throws Exception {
        acceptor.offerRequests();
        outOfMemory.set(true);
        request();
        assertOutOfMemory(() -> acceptor.accept(TIMEOUT));
        assertThat(acceptor.isReady()).isTrue();
        acceptor.accept(Duration.ZERO).close();
    }

    @Test
    void aHandshakeBeginsLater() throws Exception {
        acceptor.beginAll();
        outOfMemory.set(true);
        request();
        assertThat(begun.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        acceptor.accept(TIMEOUT).close();
    }

    @Test
    void aFutureFailsAndAnotherOneGetsTheRequest() throws Throwable {
        acceptor.offerRequests();
        outOfMemory.set(true);
        CompletableFuture<Fragile> failing = acceptor.acceptAsync(link -> link);
        request();
        assertOutOfMemory(() -> get(failing));
        get(acceptor.acceptAsync(link -> link)).close();
    }

    @Test
    void aFutureFailsAndAnotherOneGetsTheConnection() throws Throwable {
        CompletableFuture<Fragile> failing = acceptor.acceptAsync(_ -> {
            throw new OutOfMemoryError("in a test");
        });
        request();
        assertOutOfMemory(() -> get(failing));
        get(acceptor.acceptAsync(link -> link)).close();
    }

    private static Fragile get(CompletableFuture<Fragile> future) throws Throwable {
        try {
            return future.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause();
        }
    }
}
