// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import io.rdmacm.verbs.RdmaException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The table of states and legal calls in the Javadoc of {@link CmId}: in every state every call that is not in it is
 * refused, names the state and what comes next, and changes nothing.
 */
@FakeRdmaCm.With
class StateRulesTest {
    private static final InetSocketAddress ADDRESS = new InetSocketAddress("192.0.2.7", 7174);
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final ConnectionParameters NUMBERED = ConnectionParameters.builder().queuePairNumber(5).build();

    private static final Map<CmIdState, Set<String>> LEGAL = new EnumMap<>(Map.ofEntries(
            Map.entry(CmIdState.IDLE, Set.of("bindAddress", "resolveAddress")),
            Map.entry(CmIdState.BOUND, Set.of("listen", "resolveAddress", "joinMulticast")),
            Map.entry(CmIdState.RESOLVING_ADDRESS, Set.of()),
            Map.entry(CmIdState.ADDRESS_RESOLVED, Set.of("resolveRoute", "infinibandPaths", "joinMulticast")),
            Map.entry(CmIdState.RESOLVING_ROUTE, Set.of("joinMulticast")),
            Map.entry(CmIdState.ROUTE_RESOLVED, Set.of("connect", "joinMulticast")),
            Map.entry(CmIdState.LISTENING, Set.of()),
            Map.entry(CmIdState.REQUESTED, Set.of("accept", "reject", "rejectEce", "remoteEce", "joinMulticast")),
            Map.entry(CmIdState.CONNECTING, Set.of("disconnect", "notifyEstablished", "notifyMigrated")),
            Map.entry(CmIdState.RESPONDED, Set.of("disconnect", "establish", "remoteEce")),
            Map.entry(CmIdState.ACCEPTED, Set.of("disconnect", "notifyEstablished", "notifyMigrated")),
            Map.entry(CmIdState.CONNECTED, Set.of("disconnect", "notifyEstablished", "notifyMigrated")),
            Map.entry(CmIdState.DISCONNECTING, Set.of("disconnect")),
            Map.entry(CmIdState.DISCONNECTED, Set.of("disconnect")),
            Map.entry(CmIdState.FAILED, Set.of("disconnect"))));

    @TestFactory
    Stream<DynamicTest> everyCallThatIsNotInTheTableIsRefused() {
        assertThat(LEGAL.keySet()).containsExactlyInAnyOrder(CmIdState.values());
        List<DynamicTest> tests = new ArrayList<>();
        for (CmIdState state : CmIdState.values()) {
            for (String call : calls(null).keySet()) {
                if (!LEGAL.get(state).contains(call)) {
                    tests.add(DynamicTest.dynamicTest(call + " in " + state, () -> assertRefused(state, call)));
                }
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

    private static void assertRefused(CmIdState state, String call) throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = in(state, channel)) {
            assertThatThrownBy(calls(id).get(call)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(state.name()).hasMessageContaining("next comes: " + state.nextStep());
            assertThat(id.state()).isEqualTo(state);
        }
    }

    private static Map<String, ThrowingCallable> calls(CmId id) {
        Map<String, ThrowingCallable> calls = new LinkedHashMap<>();
        calls.put("bindAddress", () -> id.bindAddress(ADDRESS));
        calls.put("resolveAddress", () -> id.resolveAddress(ADDRESS, SECOND));
        calls.put("resolveRoute", () -> id.resolveRoute(SECOND));
        calls.put("infinibandPaths", () -> id.options().infinibandPaths(new byte[72]));
        calls.put("listen", () -> id.listen(1));
        calls.put("connect", () -> id.connect(NUMBERED));
        calls.put("accept", () -> id.accept(NUMBERED));
        calls.put("reject", () -> id.reject());
        calls.put("rejectEce", () -> id.rejectEce(new byte[0]));
        calls.put("remoteEce", () -> id.remoteEce());
        calls.put("establish", () -> id.establish());
        calls.put("disconnect", () -> id.disconnect());
        calls.put("notifyEstablished", () -> id.notifyEstablished());
        calls.put("notifyMigrated", () -> id.notifyMigrated());
        calls.put("joinMulticast", () -> id.joinMulticast(ADDRESS));
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
    private interface Call {
        void on(CmId id) throws RdmaException;
    }

    private static CmId after(CmId id, Call call) throws RdmaException {
        call.on(id);
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
