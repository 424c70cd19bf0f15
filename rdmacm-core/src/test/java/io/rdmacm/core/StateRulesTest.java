// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import io.rdmacm.core.CmIdTransitions.Call;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.queue.QueuePairState;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The state machine of {@link CmId}: the table of {@link CmIdTransitions} and what ids do are the same. In every state
 * each legal call leads where the table says, each illegal one is refused, names the state and the next step, and
 * changes nothing; and each event leads where the table says.
 */
@FakeRdmaCm.With
class StateRulesTest {
    private static final InetSocketAddress ADDRESS = new InetSocketAddress("192.0.2.7", 7174);
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final ConnectionParameters NUMBERED = ConnectionParameters.builder().queuePairNumber(5).build();

    // These need objects of a device. Without them they fail too, but later: after the state was found to be right.
    private static final Set<Call> WITH_DEVICE_OBJECTS = EnumSet.of(Call.CREATE_QUEUE_PAIR,
            Call.CREATE_SHARED_RECEIVE_QUEUE, Call.MODIFY_QUEUE_PAIR);

    @TestFactory
    Stream<DynamicTest> everyCallInEveryState() {
        List<DynamicTest> tests = new ArrayList<>();
        for (CmIdState state : CmIdState.values()) {
            for (Call call : Call.values()) {
                tests.add(call.legalStates().contains(state)
                        ? DynamicTest.dynamicTest(call + " is legal in " + state, () -> assertLegal(state, call))
                        : DynamicTest.dynamicTest(call + " is refused in " + state, () -> assertRefused(state, call)));
            }
        }
        return tests.stream();
    }

    @TestFactory
    Stream<DynamicTest> everyEventInEveryState() {
        List<DynamicTest> tests = new ArrayList<>();
        for (CmIdState state : CmIdState.values()) {
            for (CmEventType event : CmEventType.values()) {
                tests.add(DynamicTest.dynamicTest(event + " in " + state, () -> {
                    try (EventChannel channel = EventChannel.open(); CmId id = in(state, channel)) {
                        told(id, event);
                        assertThat(id.state()).isEqualTo(CmIdTransitions.after(event, state));
                    }
                }));
            }
        }
        return tests.stream();
    }

    @TestFactory
    Stream<DynamicTest> theLegalCallsLeadOn() {
        return Stream.of(CmIdState.values())
                .map(state -> DynamicTest.dynamicTest(state.name(), () -> {
                    try (EventChannel channel = EventChannel.open()) {
                        CmId id = in(state, channel);
                        assertThat(id.state()).isEqualTo(state);
                        id.close();
                    }
                }));
    }

    private static void assertLegal(CmIdState state, Call call) throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = in(state, channel)) {
            if (WITH_DEVICE_OBJECTS.contains(call)) {
                assertThatThrownBy(calls(id).get(call)).isInstanceOf(NullPointerException.class);
            } else {
                assertThatCode(calls(id).get(call)).doesNotThrowAnyException();
            }
            assertThat(id.state()).isEqualTo(call.after(state));
        }
    }

    private static void assertRefused(CmIdState state, Call call) throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = in(state, channel)) {
            assertThatThrownBy(calls(id).get(call)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(call.method()).hasMessageContaining(state.name())
                    .hasMessageContaining("next step: " + CmIdTransitions.nextStep(state));
            assertThat(id.state()).isEqualTo(state);
        }
    }

    private static Map<Call, ThrowingCallable> calls(CmId id) {
        Map<Call, ThrowingCallable> calls = new EnumMap<>(Call.class);
        calls.put(Call.BIND_ADDRESS, () -> id.bindAddress(ADDRESS));
        calls.put(Call.RESOLVE_ADDRESS, () -> id.resolveAddress(ADDRESS, SECOND));
        calls.put(Call.LISTEN, () -> id.listen(1));
        calls.put(Call.RESOLVE_ROUTE, () -> id.resolveRoute(SECOND));
        calls.put(Call.INFINIBAND_PATHS, () -> id.options().infinibandPaths(new byte[72]));
        calls.put(Call.CREATE_QUEUE_PAIR, () -> id.createQueuePair(null, null));
        calls.put(Call.CREATE_SHARED_RECEIVE_QUEUE, () -> id.createSharedReceiveQueue(null, null));
        calls.put(Call.JOIN_MULTICAST, () -> id.joinMulticast(ADDRESS).close());
        calls.put(Call.MODIFY_QUEUE_PAIR, () -> id.modifyQueuePair(null, QueuePairState.INIT));
        calls.put(Call.CONNECT, () -> id.connect(NUMBERED));
        calls.put(Call.ACCEPT, () -> id.accept(NUMBERED));
        calls.put(Call.REJECT, () -> id.reject());
        calls.put(Call.REJECT_ECE, () -> id.rejectEce(new byte[0]));
        calls.put(Call.REMOTE_ECE, () -> id.remoteEce());
        calls.put(Call.ESTABLISH, () -> id.establish());
        calls.put(Call.NOTIFY_ESTABLISHED, () -> id.notifyEstablished());
        calls.put(Call.NOTIFY_MIGRATED, () -> id.notifyMigrated());
        calls.put(Call.DISCONNECT, () -> id.disconnect());
        calls.put(Call.SET_OPTION, () -> id.options().reuseAddress(true));
        calls.put(Call.LOCAL_ECE, () -> id.options().localEce(new Ece(0x15b3, 1)));
        assertThat(calls).containsOnlyKeys(Call.values());
        return calls;
    }

    /** An id that was brought into a state by the calls and events that lead there. */
    private static CmId in(CmIdState state, EventChannel channel) throws RdmaException, InterruptedException {
        return switch (state) {
            case IDLE -> CmId.open(channel, PortSpace.TCP);
            case BOUND -> after(in(CmIdState.IDLE, channel), id -> id.bindAddress(ADDRESS));
            case LISTENING -> after(in(CmIdState.BOUND, channel), id -> id.listen(1));
            case RESOLVING_ADDRESS -> after(in(CmIdState.IDLE, channel), id -> id.resolveAddress(ADDRESS, SECOND));
            case ADDRESS_RESOLVED -> told(in(CmIdState.RESOLVING_ADDRESS, channel), CmEventType.ADDR_RESOLVED);
            case RESOLVING_ROUTE -> after(in(CmIdState.ADDRESS_RESOLVED, channel), id -> id.resolveRoute(SECOND));
            case ROUTE_RESOLVED -> told(in(CmIdState.RESOLVING_ROUTE, channel), CmEventType.ROUTE_RESOLVED);
            case CONNECTING -> after(in(CmIdState.ROUTE_RESOLVED, channel), id -> id.connect(NUMBERED));
            case RESPONDED -> told(in(CmIdState.CONNECTING, channel), CmEventType.CONNECT_RESPONSE);
            case CONNECTED -> told(in(CmIdState.CONNECTING, channel), CmEventType.ESTABLISHED);
            case FAILED -> told(in(CmIdState.CONNECTING, channel), CmEventType.REJECTED);
            case DISCONNECTING -> after(in(CmIdState.CONNECTED, channel), CmId::disconnect);
            case DISCONNECTED -> told(in(CmIdState.DISCONNECTING, channel), CmEventType.DISCONNECTED);
            case REQUESTED -> requested(channel);
            case ACCEPTED -> after(in(CmIdState.REQUESTED, channel), id -> id.accept(NUMBERED));
        };
    }

    @FunctionalInterface
    private interface Step {
        void on(CmId id) throws RdmaException;
    }

    private static CmId after(CmId id, Step step) throws RdmaException {
        step.on(id);
        return id;
    }

    private static CmId told(CmId id, CmEventType type) throws RdmaException, InterruptedException {
        FakeRdmaCm.event(id, type);
        id.channel().getEvent(Loopback.TIMEOUT).close();
        return id;
    }

    private static CmId requested(EventChannel channel) throws RdmaException, InterruptedException {
        CmId listener = in(CmIdState.LISTENING, channel);
        FakeRdmaCm.event(listener, CmEventType.CONNECT_REQUEST);
        CmId id;
        try (CmEvent request = channel.getEvent(Loopback.TIMEOUT)) {
            id = request.id();
        }
        listener.close();
        return id;
    }
}
