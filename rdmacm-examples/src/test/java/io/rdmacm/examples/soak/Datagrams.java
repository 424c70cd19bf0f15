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

/** Datagrams between two ids that have connected (UD). */
final class Datagrams implements Scenario {
    /** The bytes of the global route header in front of the data of a receive. */
    static final int HEADER = 40;

    // fits into the smallest default path MTU
    private static final int LONGEST = 1024;
    private static final int MAX = 40;

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId listener = CmId.open(channel, PortSpace.UDP)) {
            listener.bindAddress(worker.anyPort());
            listener.listen(1);
            CmId id = CmId.open(channel, PortSpace.UDP);
            try (Side client = Side.of(worker, resolve(worker, id, listener), Side.Kinds.any(random, false))) {
                id.connect(ConnectionParameters.defaults());
                try (Side server = Side.of(worker, request(worker, listener), Side.Kinds.any(random))) {
                    server.id().accept(ConnectionParameters.defaults());
                    DatagramParameters peer;
                    try (CmEvent event = channel.await(id, CmEventType.ESTABLISHED, worker.timeout())) {
                        peer = event.datagramParameters();
                    }
                    worker.counters().countConnection();
                    try (AddressHandle handle = client.domain().createAddressHandle(peer.address().orElseThrow())) {
                        int count = 1 + random.nextInt(MAX);
                        for (int i = 0; i < count; i++) {
                            exchange(worker, client, server, handle, peer, random);
                        }
                    }
                }
            }
        }
    }

    private static CmId resolve(Worker worker, CmId id, CmId listener) throws Exception {
        id.resolveAddress(listener.localAddress(), worker.timeout());
        id.channel().await(id, CmEventType.ADDR_RESOLVED, worker.timeout()).close();
        id.resolveRoute(worker.timeout());
        id.channel().await(id, CmEventType.ROUTE_RESOLVED, worker.timeout()).close();
        return id;
    }

    private static CmId request(Worker worker, CmId listener) throws Exception {
        try (CmEvent request = listener.channel().await(listener, CmEventType.CONNECT_REQUEST, worker.timeout())) {
            return request.id();
        }
    }

    private static void exchange(Worker worker, Side from, Side to, AddressHandle handle, DatagramParameters peer,
            RandomGenerator random) throws Exception {
        long number = random.nextLong();
        int length = Payload.HEADER + random.nextInt(LONGEST - Payload.HEADER);
        to.postReceive(~number, HEADER + LONGEST);
        send(from, number, length, handle, peer);
        from.success(number);
        receive(to, number, length);
        worker.counters().countOperation("datagram", length);
    }

    /** Sends the payload of a number. */
    static void send(Side from, long number, int length, AddressHandle handle, DatagramParameters peer)
            throws Exception {
        Payload.write(from.region().memory().asSlice(0, length), number);
        if (from.postsBatches()) {
            try (SendBatch batch = from.pair().startBatch()) {
                batch.id(number).sendWithImmediate((int) number)
                        .datagram(handle, peer.queuePairNumber(), peer.queueKey()).data(from.region(), 0, length);
                batch.complete();
            }
        } else {
            from.pair().postSend(from.send().id(number).sendWithImmediate((int) number)
                    .datagram(handle, peer.queuePairNumber(), peer.queueKey()).data(from.region(), 0, length));
        }
    }

    /** Receives the payload of a number, and checks it. */
    static void receive(Side to, long number, int length) throws Exception {
        WorkCompletion received = to.success(~number);
        LossException.unless(received.byteLength() == HEADER + length, "%d bytes of %d arrived",
                received.byteLength(), HEADER + length);
        LossException.unless(received.immediate() == (int) number, "immediate value %x instead of %x",
                received.immediate(), (int) number);
        Payload.check(to.region().memory().asSlice(Side.HALF + HEADER, length), number);
    }
}
