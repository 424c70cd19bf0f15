// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The state machine of a {@link CmId} as one table: which calls are legal in each state and where they lead, where each
 * event leads, and what a program is expected to do next. {@link CmIdStateMachine} applies it. The Javadoc of
 * {@link CmId} shows it to the user, and a test checks that the two agree.
 */
final class CmIdTransitions {
    private CmIdTransitions() {
    }

    /**
     * The calls that are legal only in certain states, or must not run while the state changes. Queries,
     * {@link CmId#migrate}, {@link CmId#writeEvent} and {@link CmId#resolveAddressInfo} are not among them: they do not
     * depend on the state, or have rules of their own.
     */
    enum Call {
        BIND_ADDRESS("bindAddress", in(CmIdState.IDLE).to(CmIdState.BOUND)),
        RESOLVE_ADDRESS("resolveAddress", in(CmIdState.IDLE, CmIdState.BOUND).to(CmIdState.RESOLVING_ADDRESS)),
        LISTEN("listen", in(CmIdState.BOUND).to(CmIdState.LISTENING)),
        RESOLVE_ROUTE("resolveRoute", in(CmIdState.ADDRESS_RESOLVED).to(CmIdState.RESOLVING_ROUTE)),
        INFINIBAND_PATHS("options().infinibandPaths", in(CmIdState.ADDRESS_RESOLVED).to(CmIdState.RESOLVING_ROUTE)),

        CREATE_QUEUE_PAIR("createQueuePair", beforeConnecting()),
        CREATE_SHARED_RECEIVE_QUEUE("createSharedReceiveQueue", beforeConnecting()),
        JOIN_MULTICAST("joinMulticast", beforeConnecting()),
        MODIFY_QUEUE_PAIR("modifyQueuePair", in(CmIdState.ADDRESS_RESOLVED, CmIdState.RESOLVING_ROUTE,
                CmIdState.ROUTE_RESOLVED, CmIdState.REQUESTED, CmIdState.CONNECTING, CmIdState.RESPONDED,
                CmIdState.ACCEPTED, CmIdState.CONNECTED, CmIdState.DISCONNECTING, CmIdState.DISCONNECTED)),

        CONNECT("connect", in(CmIdState.ROUTE_RESOLVED).to(CmIdState.CONNECTING)),
        ACCEPT("accept", in(CmIdState.REQUESTED).to(CmIdState.ACCEPTED)),
        REJECT("reject", in(CmIdState.REQUESTED).to(CmIdState.FAILED)),
        REJECT_ECE("rejectEce", in(CmIdState.REQUESTED).to(CmIdState.FAILED)),
        REMOTE_ECE("remoteEce", in(CmIdState.REQUESTED, CmIdState.RESPONDED)),
        ESTABLISH("establish", in(CmIdState.RESPONDED).to(CmIdState.CONNECTED)),
        NOTIFY_ESTABLISHED("notifyEstablished", handshakeOrConnected()),
        NOTIFY_MIGRATED("notifyMigrated", handshakeOrConnected()),
        DISCONNECT("disconnect", in(CmIdState.CONNECTING, CmIdState.RESPONDED, CmIdState.ACCEPTED,
                CmIdState.CONNECTED, CmIdState.DISCONNECTING).to(CmIdState.DISCONNECTING),
                in(CmIdState.DISCONNECTED, CmIdState.FAILED)),

        SET_OPTION("options().set", in(CmIdState.values())),
        LOCAL_ECE("options().localEce", in(CmIdState.values()));

        private final String method;
        private final Map<CmIdState, CmIdState> transitions = new EnumMap<>(CmIdState.class);

        Call(String method, Rows... all) {
            this.method = method;
            for (Rows rows : all) {
                rows.from.forEach(from -> transitions.put(from, rows.to == null ? from : rows.to));
            }
        }

        /** Returns the name of the method of {@link CmId}, for messages. */
        String method() {
            return method;
        }

        /** Returns the states in which the call is legal. */
        Set<CmIdState> legalStates() {
            return Collections.unmodifiableSet(transitions.keySet());
        }

        /** Returns the state after a successful call; null when the call is illegal in the given state. */
        @Nullable CmIdState after(CmIdState state) {
            return transitions.get(state);
        }
    }

    /** Returns the state after an event. */
    static CmIdState after(CmEventType event, CmIdState state) {
        return switch (event) {
            case ADDR_RESOLVED, ROUTE_ERROR -> CmIdState.ADDRESS_RESOLVED;
            case ADDR_ERROR -> CmIdState.BOUND;
            case ROUTE_RESOLVED -> CmIdState.ROUTE_RESOLVED;
            case CONNECT_RESPONSE -> CmIdState.RESPONDED;
            // the program may have called disconnect before it read this
            case ESTABLISHED -> state == CmIdState.DISCONNECTING ? state : CmIdState.CONNECTED;
            case DISCONNECTED -> CmIdState.DISCONNECTED;
            case REJECTED, UNREACHABLE, CONNECT_ERROR, DEVICE_REMOVAL -> CmIdState.FAILED;
            // a request gives the new id the state REQUESTED; the listener goes on listening
            case CONNECT_REQUEST, MULTICAST_JOIN, MULTICAST_ERROR, ADDR_CHANGE, TIMEWAIT_EXIT, ADDRINFO_RESOLVED,
                    ADDRINFO_ERROR, USER, INTERNAL -> state;
        };
    }

    /** Returns what a program is expected to do in a state, for messages. */
    static String nextStep(CmIdState state) {
        return switch (state) {
            case IDLE -> "bindAddress or resolveAddress";
            case BOUND -> "listen or resolveAddress";
            case RESOLVING_ADDRESS -> "wait for ADDR_RESOLVED";
            case ADDRESS_RESOLVED -> "resolveRoute";
            case RESOLVING_ROUTE -> "wait for ROUTE_RESOLVED";
            case ROUTE_RESOLVED -> "createQueuePair and connect";
            case LISTENING -> "wait for CONNECT_REQUEST";
            case REQUESTED -> "createQueuePair and accept, or reject";
            case CONNECTING, ACCEPTED -> "wait for ESTABLISHED";
            case RESPONDED -> "establish";
            case CONNECTED -> "disconnect";
            case DISCONNECTING -> "wait for DISCONNECTED";
            case DISCONNECTED, FAILED -> "close";
        };
    }

    /** The states in which the id is bound, and so may have a device, but has not started to connect. */
    private static Rows beforeConnecting() {
        return in(CmIdState.BOUND, CmIdState.ADDRESS_RESOLVED, CmIdState.RESOLVING_ROUTE, CmIdState.ROUTE_RESOLVED,
                CmIdState.REQUESTED);
    }

    private static Rows handshakeOrConnected() {
        return in(CmIdState.CONNECTING, CmIdState.ACCEPTED, CmIdState.CONNECTED);
    }

    /** Makes a call legal in these states. It changes none of them, unless {@link Rows#to} follows. */
    private static Rows in(CmIdState... states) {
        Set<CmIdState> from = EnumSet.noneOf(CmIdState.class);
        Collections.addAll(from, states);
        return new Rows(from, null);
    }

    /**
     * Rows of the table.
     *
     * @param from the states in which the call is legal
     * @param to the state that it leads to; null when it changes nothing
     */
    private record Rows(Set<CmIdState> from, @Nullable CmIdState to) {
        Rows to(CmIdState state) {
            return new Rows(from, state);
        }
    }
}
