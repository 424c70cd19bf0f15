// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.Locale;
import java.util.random.RandomGenerator;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;

/** A peer that gives up at one of the steps of a handshake. The server serves the next one. */
enum HandshakeFault implements Scenario {
    /** It has found the address. */
    AFTER_THE_ADDRESS,
    /** It has found the route. */
    AFTER_THE_ROUTE,
    /** It has sent its request, and goes before there is an answer. */
    AFTER_THE_REQUEST,
    /** The answer is there, but it does not take it. */
    AFTER_THE_ANSWER,
    /** It takes the answer, which completes the handshake, and goes. */
    AFTER_THE_HANDSHAKE;

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        HandledMessages.Fixture server = HandledMessages.fixture(worker);
        try (EventChannel channel = EventChannel.open()) {
            CmId id = CmId.open(channel, PortSpace.TCP);
            id.resolveAddress(server.listener().address(), worker.timeout());
            channel.await(id, CmEventType.ADDR_RESOLVED, worker.timeout()).close();
            if (this == AFTER_THE_ADDRESS) {
                id.close();
            } else {
                id.resolveRoute(worker.timeout());
                channel.await(id, CmEventType.ROUTE_RESOLVED, worker.timeout()).close();
                if (this == AFTER_THE_ROUTE) {
                    id.close();
                } else {
                    giveUp(worker, channel, Side.of(worker, id, Side.Kinds.any(random)), random);
                }
            }
        }
        new HandledMessages(1).run(worker, random);
        worker.counters().countFault(toString());
    }

    private void giveUp(Worker worker, EventChannel channel, Side peer, RandomGenerator random) throws Exception {
        try (peer) {
            peer.id().connect(ConnectionParameters.defaults());
            if (this == AFTER_THE_HANDSHAKE) {
                channel.await(peer.id(), CmEventType.ESTABLISHED, worker.timeout()).close();
            } else if (this == AFTER_THE_ANSWER) {
                // Another peer is served meanwhile, after this one.
                new HandledMessages(1).run(worker, random);
            }
        }
    }

    @Override
    public String toString() {
        return "handshake-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
