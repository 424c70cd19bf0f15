// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.RejectedException;

/** A server made by hand that gives up at one of the steps of a handshake, or speaks wrongly. */
enum ServerFault implements AnyLayer {
    /** It goes instead of answering. */
    WITHOUT_AN_ANSWER,
    /** It refuses. */
    REJECTION,
    /** It accepts, and goes. */
    AFTER_THE_ANSWER,
    /** Its answer has private data of no layer. */
    WRONG_ANSWER,
    /** It sends and writes what nobody understands, and goes. */
    WRONG_MESSAGES;

    private static final int MOST_PRIVATE_DATA = 196;

    @Override
    public void inject(Worker worker, Layer layer, RandomGenerator random) throws Exception {
        Pair.Fixture fixture = Pair.Fixture.of(worker);
        RandomGenerator others = new SplittableRandom(random.nextLong());
        worker.runBoth(() -> {
            CmId id = fixture.request(worker);
            switch (this) {
                case WITHOUT_AN_ANSWER -> id.close();
                case REJECTION -> {
                    try (id) {
                        id.reject(new byte[random.nextInt(100)]);
                    }
                }
                default -> {
                    try (Side peer = Side.of(worker, id, Side.Kinds.any(random))) {
                        accept(worker, layer, fixture, peer, random);
                    }
                }
            }
        }, () -> {
            InetSocketAddress server = fixture.listener().localAddress();
            // Messages have no private data that must be there.
            boolean noticed = this == WRONG_ANSWER && !(layer instanceof MessageLayer);
            try (Layer.Client client = layer.client(worker, others)) {
                Expect.failureOf(noticed ? () -> client.connect(server)
                        : () -> Exchanges.run(worker, others, server, client, Integer.MAX_VALUE), layer.ended());
            }
        });
    }

    private void accept(Worker worker, Layer layer, Pair.Fixture fixture, Side peer, RandomGenerator random)
            throws Exception {
        byte[] data = layer.privateData();
        if (this == WRONG_ANSWER) {
            data = new byte[random.nextInt(MOST_PRIVATE_DATA + 1)];
            random.nextBytes(data);
        }
        peer.id().accept(ConnectionParameters.builder().privateData(data).build());
        if (this == WRONG_ANSWER || this == WRONG_MESSAGES) {
            try {
                fixture.servers().await(peer.id(), CmEventType.ESTABLISHED, worker.timeout()).close();
            } catch (DisconnectedException | RejectedException e) {
                // It has noticed before this was told.
            }
        }
        if (this == WRONG_MESSAGES) {
            if (layer instanceof MessageLayer) {
                Operation.SEND.post(peer, 0, Operation.Target.of(0), 0, MessageFixture.SIZE + 64);
                peer.completion();
            } else {
                ClientFault.babble(worker, peer, random);
            }
        }
    }

    @Override
    public String toString() {
        return "server-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
