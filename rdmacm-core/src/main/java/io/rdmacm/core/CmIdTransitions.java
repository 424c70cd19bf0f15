// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The state machine of a {@link CmId} as one table: which call is legal in which states and where it leads, where each
 * event leads, and what a program is expected to do next. {@link CmIdStateMachine} applies it, and the Javadoc of
 * {@link CmId} shows it to the user; a test compares the two.
 */
final class CmIdTransitions {
    private CmIdTransitions() {
    }

    /**
     * The calls that need the id to be in a certain state, or must not run while it changes. Queries and
     * {@link CmId#migrate} are not among them: they are legal in every state.
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

        /** The method of {@link CmId}, for messages. */
        String method() {
            return method;
        }

        /** The states in which the call is legal. */
        Set<CmIdState> legalStates() {
            return Collections.unmodifiableSet(transitions.keySet());
        }

        /** The state after a successful call; null when the call is illegal in the given state. */
        CmIdState after(CmIdState state) {
            return transitions.get(state);
        }
    }

    /** The state after an event. */
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
            // it is the new id that is REQUESTED; the listener goes on listening
            case CONNECT_REQUEST, MULTICAST_JOIN, MULTICAST_ERROR, ADDR_CHANGE, TIMEWAIT_EXIT -> state;
        };
    }

    /** What a program is expected to do in a state, for messages. */
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

    /** Whether there is no connection any more, and there will be none. */
    static boolean isOver(CmIdState state) {
        return state == CmIdState.DISCONNECTED || state == CmIdState.FAILED;
    }

    /** The id has, or may have, a device and has not connected yet. */
    private static Rows beforeConnecting() {
        return in(CmIdState.BOUND, CmIdState.ADDRESS_RESOLVED, CmIdState.RESOLVING_ROUTE, CmIdState.ROUTE_RESOLVED,
                CmIdState.REQUESTED);
    }

    private static Rows handshakeOrConnected() {
        return in(CmIdState.CONNECTING, CmIdState.ACCEPTED, CmIdState.CONNECTED);
    }

    /** A call that is legal in these states and changes none of them, unless {@link Rows#to} follows. */
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
    private record Rows(Set<CmIdState> from, CmIdState to) {
        Rows to(CmIdState state) {
            return new Rows(from, state);
        }
    }
}
