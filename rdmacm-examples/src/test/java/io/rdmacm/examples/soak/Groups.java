// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.random.RandomGenerator;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.DatagramParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.AddressHandle;

/** Datagrams to a multicast group, which all members must receive. */
final class Groups implements Scenario {
    private static final int LENGTH = 512;
    private static final int MAX = 3;
    private static final int ROUNDS = 10;

    @Override
    public void run(Worker worker, RandomGenerator random) throws Exception {
        byte[] address = {(byte) 239, 7, (byte) random.nextInt(), (byte) random.nextInt()};
        InetSocketAddress group = new InetSocketAddress(InetAddress.getByAddress(address), 0);
        Deque<AutoCloseable> open = new ArrayDeque<>();
        try (EventChannel channel = EventChannel.open(); Side sender = bound(worker, channel, random)) {
            List<Side> members = new ArrayList<>();
            try {
                int count = 1 + random.nextInt(MAX);
                for (int i = 0; i < count; i++) {
                    Side member = bound(worker, channel, random);
                    open.push(member);
                    members.add(member);
                    open.push(member.id().joinMulticast(group));
                    joined(worker, member);
                }
                open.push(sender.id().joinMulticast(group));
                DatagramParameters all = joined(worker, sender);
                try (AddressHandle handle = sender.domain().createAddressHandle(all.address().orElseThrow())) {
                    for (int i = 0; i < ROUNDS; i++) {
                        exchange(worker, sender, members, handle, all, random.nextLong());
                    }
                }
            } finally {
                while (!open.isEmpty()) {
                    open.pop().close();
                }
            }
        }
    }

    private static Side bound(Worker worker, EventChannel channel, RandomGenerator random) throws Exception {
        CmId id = CmId.open(channel, PortSpace.UDP);
        boolean bound = false;
        try {
            id.bindAddress(worker.anyPort());
            bound = true;
        } finally {
            if (!bound) {
                id.close();
            }
        }
        return Side.of(worker, id, Side.Kinds.any(random, false));
    }

    private static DatagramParameters joined(Worker worker, Side side) throws Exception {
        try (CmEvent event = side.id().channel().await(side.id(), CmEventType.MULTICAST_JOIN, worker.timeout())) {
            return event.datagramParameters();
        }
    }

    private static void exchange(Worker worker, Side sender, List<Side> members, AddressHandle handle,
            DatagramParameters all, long number) throws Exception {
        for (Side member : members) {
            member.postReceive(~number, Datagrams.HEADER + LENGTH);
        }
        Datagrams.send(sender, number, LENGTH, handle, all);
        sender.success(number);
        for (Side member : members) {
            Datagrams.receive(member, number, LENGTH);
            worker.counters().countOperation("multicast", LENGTH);
        }
    }
}
