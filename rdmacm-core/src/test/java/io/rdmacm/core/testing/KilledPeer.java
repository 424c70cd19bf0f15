// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Callable;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.Endpoint;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/**
 * One process with a connection in each phase, because starting one for each phase takes long; and what this side has
 * open and waits for when it is killed.
 */
public final class KilledPeer implements AutoCloseable {
    /** Nothing waits so long. */
    public static final Duration LONG = Duration.ofDays(1);

    private final PeerProcess process;
    private final Deque<Background<?>> waits = new ArrayDeque<>();
    private final Deque<Endpoint> endpoints = new ArrayDeque<>();
    private Measured killed;

    /** Starts it with the phases to go to, one after the other, each with its argument behind a "=". */
    public KilledPeer(String... phases) throws IOException {
        process = PeerProcess.start(phases);
    }

    /** The next line that it says. */
    public String line() throws IOException {
        return process.line();
    }

    /** Closes an endpoint at the end. */
    public Endpoint closing(Endpoint endpoint) {
        endpoints.push(endpoint);
        return endpoint;
    }

    /** Starts to wait for something; interrupted at the end. */
    public <T> Background<T> waiting(Callable<T> wait) {
        Background<T> background = Background.call(wait);
        waits.push(background);
        return background;
    }

    /** Starts to wait for something without a result. */
    public Background<Void> waiting(Background.Action wait) {
        return waiting(() -> {
            wait.run();
            return null;
        });
    }

    /** Starts to wait for a message of the peer. */
    public Background<WorkCompletion> receiving(Endpoint endpoint) throws RdmaException {
        endpoint.postReceive(1, endpoint.registerMessages(EndpointPair.memory()), 0, 16);
        return waiting(() -> endpoint.getReceiveCompletion(LONG)).awaitInside(Poller.class, "await");
    }

    /** Kills it. */
    public void kill() throws InterruptedException {
        killed = process.kill();
    }

    /** Prints how long after that something ended. */
    public void print(String fault, Background<?> ended) {
        killed.print(fault, ended.end());
    }

    /** Asserts that the wait for a message has ended, and that the connection has. */
    public void assertEnds(Endpoint endpoint, Background<WorkCompletion> receiving, String fault) throws Exception {
        assertThat(receiving.result().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        print(fault, receiving);
        assertThatThrownBy(() -> endpoint.getSendCompletion(LONG)).isInstanceOf(DisconnectedException.class);
        endpoint.disconnect(LONG);
    }

    @Override
    public void close() throws IOException {
        process.close();
        waits.forEach(Background::close);
        for (Endpoint endpoint : endpoints) {
            endpoint.close();
        }
    }
}
