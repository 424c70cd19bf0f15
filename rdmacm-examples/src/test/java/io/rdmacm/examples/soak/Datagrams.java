// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.random.RandomGenerator;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DatagramParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.work.WorkCompletion;

/** Datagrams to a peer that has answered. */
final class Datagrams implements Act {
    /** What a receive has before the data. */
    static final int HEADER = 40;

    // fits into the least path MTU that a device can have by default
    private static final int LONGEST = 1024;
    private static final int MOST = 40;

    @Override
    public void play(Stage stage, RandomGenerator random) throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, PortSpace.UDP)) {
            listener.bindAddress(stage.anyPort());
            listener.listen(1);
            CmId id = CmId.open(channel, PortSpace.UDP);
            try (Side client = Side.of(stage, resolve(stage, id, listener), Side.Kinds.any(random, false))) {
                id.connect(ConnectionParameters.defaults());
                try (Side server = Side.of(stage, request(stage, listener), Side.Kinds.any(random))) {
                    server.id().accept(ConnectionParameters.defaults());
                    DatagramParameters peer;
                    try (CmEvent event = channel.await(id, CmEventType.ESTABLISHED, stage.patience())) {
                        peer = event.datagramParameters();
                    }
                    stage.tally().connected();
                    try (AddressHandle handle = client.domain().createAddressHandle(peer.address().orElseThrow())) {
                        int count = 1 + random.nextInt(MOST);
                        for (int i = 0; i < count; i++) {
                            exchange(stage, client, server, handle, peer, random);
                        }
                    }
                }
            }
        }
    }

    private static CmId resolve(Stage stage, CmId id, CmId listener) throws Exception {
        id.resolveAddress(listener.localAddress(), stage.patience());
        id.channel().await(id, CmEventType.ADDR_RESOLVED, stage.patience()).close();
        id.resolveRoute(stage.patience());
        id.channel().await(id, CmEventType.ROUTE_RESOLVED, stage.patience()).close();
        return id;
    }

    private static CmId request(Stage stage, CmId listener) throws Exception {
        try (CmEvent request = listener.channel().await(listener, CmEventType.CONNECT_REQUEST, stage.patience())) {
            return request.id();
        }
    }

    private static void exchange(Stage stage, Side from, Side to, AddressHandle handle, DatagramParameters peer,
            RandomGenerator random) throws Exception {
        long number = random.nextLong();
        int length = Payload.HEADER + random.nextInt(LONGEST - Payload.HEADER);
        to.postReceive(~number, HEADER + LONGEST);
        send(from, number, length, handle, peer);
        from.success(number);
        receive(to, number, length);
        stage.tally().did("datagram", length);
    }

    /** Sends the payload of a number. */
    static void send(Side from, long number, int length, AddressHandle handle, DatagramParameters peer)
            throws Exception {
        Payload.write(from.region().memory().asSlice(0, length), number);
        if (from.postsBatches()) {
            try (SendBatch batch = from.pair().startBatch()) {
                batch.sendWithImmediate((int) number).id(number)
                        .datagram(handle, peer.queuePairNumber(), peer.queueKey()).data(from.region(), 0, length);
                batch.complete();
            }
        } else {
            from.pair().postSend(from.send().id(number).sendWithImmediate((int) number)
                    .datagram(handle, peer.queuePairNumber(), peer.queueKey()).data(from.region(), 0, length));
        }
    }

    /** Receives it. */
    static void receive(Side to, long number, int length) throws Exception {
        WorkCompletion received = to.success(~number);
        LossException.unless(received.byteLength() == HEADER + length, "%d bytes of %d have come",
                received.byteLength(), HEADER + length);
        LossException.unless(received.immediate() == (int) number, "immediate value %x instead of %x",
                received.immediate(), (int) number);
        Payload.check(to.region().memory().asSlice(Side.HALF + HEADER, length), number);
    }
}
