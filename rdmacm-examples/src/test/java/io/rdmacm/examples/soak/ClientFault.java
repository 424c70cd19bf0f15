// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.Locale;
import java.util.random.RandomGenerator;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.RejectedException;

/** A client made by hand that gives up at one of the steps of a handshake, or speaks wrongly. */
enum ClientFault implements AnyLayer {
    /** It has found the address. */
    AFTER_THE_ADDRESS,
    /** It has found the route. */
    AFTER_THE_ROUTE,
    /** It has sent its request, and goes before there is an answer. */
    AFTER_THE_REQUEST,
    /** The answer is there, but it does not take it. */
    AFTER_THE_ANSWER,
    /** It takes the answer, which completes the handshake, and goes. */
    AFTER_THE_HANDSHAKE,
    /** Its request has private data of no layer. */
    WRONG_REQUEST,
    /** It sends and writes what nobody understands. */
    WRONG_MESSAGES;

    private static final int MOST_PRIVATE_DATA = 56;

    @Override
    public void inject(Worker worker, Layer layer, RandomGenerator random) throws Exception {
        try (EventChannel channel = EventChannel.open()) {
            CmId id = CmId.open(channel, PortSpace.TCP);
            id.resolveAddress(new Exchanges(layer).server(worker), worker.timeout());
            channel.await(id, CmEventType.ADDR_RESOLVED, worker.timeout()).close();
            if (this == AFTER_THE_ADDRESS) {
                id.close();
            } else {
                id.resolveRoute(worker.timeout());
                channel.await(id, CmEventType.ROUTE_RESOLVED, worker.timeout()).close();
                if (this == AFTER_THE_ROUTE) {
                    id.close();
                } else {
                    try (Side peer = Side.of(worker, id, Side.Kinds.any(random))) {
                        connect(worker, layer, channel, peer, random);
                    }
                }
            }
        }
    }

    private void connect(Worker worker, Layer layer, EventChannel channel, Side peer, RandomGenerator random)
            throws Exception {
        byte[] data = layer.privateData();
        if (this == WRONG_REQUEST) {
            data = new byte[random.nextInt(MOST_PRIVATE_DATA + 1)];
            random.nextBytes(data);
        }
        peer.id().connect(ConnectionParameters.builder().privateData(data).build());
        switch (this) {
            // Another one is served meanwhile, after this one.
            case AFTER_THE_ANSWER -> new Exchanges(layer).run(worker, random);
            case AFTER_THE_HANDSHAKE -> channel.await(peer.id(), CmEventType.ESTABLISHED, worker.timeout()).close();
            case WRONG_REQUEST -> {
                Worker.Task connected = () -> channel.await(peer.id(), CmEventType.ESTABLISHED, worker.timeout())
                        .close();
                if (layer instanceof MessageLayer) {
                    connected.run();
                } else {
                    Expect.failure(RejectedException.class, connected);
                }
            }
            case WRONG_MESSAGES -> {
                channel.await(peer.id(), CmEventType.ESTABLISHED, worker.timeout()).close();
                babble(worker, peer, random);
            }
            default -> {
            }
        }
    }

    /** Sends and writes what comes to mind. */
    static void babble(Worker worker, Side peer, RandomGenerator random) throws Exception {
        int count = 1 + random.nextInt(Side.DEPTH - 1);
        byte[] noise = new byte[Side.HALF];
        random.nextBytes(noise);
        peer.region().memory().asByteBuffer().put(noise);
        for (int i = 0; i < count; i++) {
            int immediate = random.nextBoolean() ? random.nextInt() : MessageLayer.IMMEDIATE;
            Operation operation = Operation.values()[random.nextInt(Operation.FETCH_AND_ADD.ordinal() + 1)];
            Operation wrong = operation.consumesReceive() ? operation : Operation.WRITE_IMM;
            int length = wrong == Operation.WRITE_IMM ? 0 : random.nextInt(1 << random.nextInt(14));
            wrong.post(peer, i, new Operation.Target(0, 0, immediate, 0, 0), 0, length);
        }
        // Whoever is disconnected meanwhile waits in vain for the others.
        peer.completion();
        worker.join(worker.runSoon(random, () -> {
        }));
    }

    @Override
    public String toString() {
        return "client-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
