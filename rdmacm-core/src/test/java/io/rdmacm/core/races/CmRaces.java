// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.races;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.MulticastMembership;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.races.Misuse;
import io.rdmacm.verbs.races.Race;
import io.rdmacm.verbs.races.Races;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.work.SendFlag;

/** Races of a close with everything else for the objects of librdmacm, over the stand-ins for both libraries. */
public final class CmRaces implements Races {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofNanos(1);
    private static final int EVENTS = 6;

    private final FakeStack stack = new FakeStack();
    private final EventChannel channel;
    private final MemorySegment bytes = Arena.global().allocate(64, 8);
    private final InetSocketAddress local;
    private final InetSocketAddress group;

    /** Opens the objects that all races share. */
    public CmRaces() throws RdmaException, UnknownHostException {
        FakeRdmaCm.call("fake_recording", 0);
        FakeRdmaCm.shareWithVerbs();
        FakeRdmaCm.call("fake_context", stack.context().handle().address());
        channel = EventChannel.open();
        local = new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0);
        group = new InetSocketAddress(InetAddress.getByName("239.1.2.3"), 0);
    }

    /** A channel of its own, and an id with events on their way. */
    private record Connecting(EventChannel channel, CmId id) {
        static Connecting with(CmEventType type) throws RdmaException {
            EventChannel channel = EventChannel.open();
            CmId id = CmId.open(channel, PortSpace.TCP);
            for (int i = 0; i < EVENTS; i++) {
                FakeRdmaCm.event(id, type);
            }
            return new Connecting(channel, id);
        }

        void takeOne(EventChannel from) throws RdmaException {
            Optional<CmEvent> event = from.pollEvent();
            if (event.isPresent()) {
                event.get().close();
            }
            id.state();
        }

        void awaitOne() throws RdmaException, InterruptedException {
            channel.await(id, CmEventType.ADDR_RESOLVED, LONG).close();
        }

        void takeRequest() throws RdmaException, InterruptedException {
            try (CmEvent request = channel.getEvent(SHORT)) {
                request.id().close();
            } catch (RdmaTimeoutException e) {
                // as it should be
            }
            id.state();
        }
    }

    private CmId bound() throws RdmaException {
        CmId id = CmId.open(channel, PortSpace.TCP);
        id.bindAddress(local);
        return id;
    }

    private CmId datagrams() throws RdmaException {
        CmId id = CmId.open(channel, PortSpace.UDP);
        id.bindAddress(local);
        return id;
    }

    /** With its queue pair and a region. */
    private record Connected(Endpoint endpoint, MemoryRegion region) {
        void send() throws RdmaException {
            endpoint.postSend(1, region, 0, 8, Set.of(SendFlag.SIGNALED));
        }

        void receive() throws RdmaException {
            endpoint.postReceive(2, region, 0, 8);
        }

        void awaitSend() throws RdmaException, InterruptedException {
            endpoint.getSendCompletion(LONG);
        }

        void awaitReceive() throws RdmaException, InterruptedException {
            endpoint.getReceiveCompletion(LONG);
        }

        void close() throws RdmaException {
            endpoint.close();
        }
    }

    private Connected connected() throws RdmaException {
        Endpoint endpoint = Endpoint.open(PortSpace.TCP);
        endpoint.bindAddress(local);
        endpoint.createQueuePair(EndpointAttributes.defaults());
        return new Connected(endpoint, endpoint.registerMessages(bytes));
    }

    private Endpoint listening() throws RdmaException {
        Endpoint endpoint = Endpoint.createPassive(local, PortSpace.TCP, null);
        endpoint.listen(1);
        return endpoint;
    }

    /** Until nothing made of it is open any more. */
    private static void closeAsSoonAsPossible(NativeObject object) throws RdmaException {
        while (true) {
            try {
                object.close();
                return;
            } catch (IllegalStateException e) {
                Thread.yield();
            }
        }
    }

    private static void getEventShortly(EventChannel channel) throws Exception {
        try {
            channel.getEvent(SHORT).close();
        } catch (RdmaTimeoutException e) {
            // as it should be
        }
    }

    private static void closeAll(Connecting connecting) throws RdmaException {
        closeAsSoonAsPossible(connecting.id);
        closeAsSoonAsPossible(connecting.channel);
    }

    private void joinAndLeave(CmId id) throws RdmaException {
        id.joinMulticast(group, MulticastMembership.Role.SEND_ONLY).close();
    }

    @Override
    public List<Race<?>> all() {
        List<Race<?>> races = new ArrayList<>(List.of(
                Race.of("EventChannel getEvent/close", EventChannel::open)
                        .await(events -> events.getEvent(LONG).close()).close(EventChannel::close),
                Race.of("EventChannel getEvent/getEvent/fd/close/close", EventChannel::open)
                        .await(events -> events.getEvent(LONG).close()).await(CmRaces::getEventShortly)
                        .await(EventChannel::fd).close(EventChannel::close).close(EventChannel::close),
                Race.of("CmId options/close", this::bound).use(id -> id.options().typeOfService(8))
                        .close(CmId::close),
                Race.of("CmId options/context/await/close/close", this::bound)
                        .use(id -> id.options().reuseAddress(true)).use(id -> id.context().deviceName())
                        .await(id -> channel.await(id, CmEventType.ADDR_RESOLVED, LONG).close())
                        .close(CmId::close).close(CmId::close),
                Race.of("CmId await/close", this::bound)
                        .await(id -> channel.await(id, CmEventType.ADDR_RESOLVED, LONG).close())
                        .close(CmId::close),
                Race.of("CmEvent take/close of its id", () -> Connecting.with(CmEventType.ADDR_RESOLVED))
                        .await(connecting -> connecting.takeOne(connecting.channel)).close(CmRaces::closeAll),
                Race.of("CmEvent take/await/close/close of its id", () -> Connecting.with(CmEventType.ADDR_RESOLVED))
                        .await(connecting -> connecting.takeOne(connecting.channel)).await(Connecting::awaitOne)
                        .close(CmRaces::closeAll).close(CmRaces::closeAll),
                Race.of("CmEvent CONNECT_REQUEST take/take/close of its id",
                        () -> Connecting.with(CmEventType.CONNECT_REQUEST))
                        .await(connecting -> connecting.takeOne(connecting.channel)).await(Connecting::takeRequest)
                        .close(CmRaces::closeAll)));
        races.addAll(List.of(
                Race.of("MulticastMembership join/close of its id", this::datagrams).use(this::joinAndLeave)
                        .close(CmRaces::closeAsSoonAsPossible),
                Race.of("Endpoint postSend/close", this::connected).use(Connected::send).close(Connected::close),
                Race.of("Endpoint getSendCompletion/close", this::connected).await(Connected::awaitSend)
                        .close(Connected::close),
                Race.of("Endpoint postSend/postReceive/getSendCompletion/getReceiveCompletion/close/close",
                        this::connected).use(Connected::send).use(Connected::receive).await(Connected::awaitSend)
                        .await(Connected::awaitReceive).close(Connected::close).close(Connected::close),
                Race.of("Endpoint getRequest/close", this::listening)
                        .await(endpoint -> endpoint.getRequest(LONG).close()).close(Endpoint::close)));
        return races;
    }

    @Override
    public String misuse() {
        return Misuse.found();
    }

    @Override
    public void close() throws RdmaException {
        channel.close();
        stack.close();
    }
}
