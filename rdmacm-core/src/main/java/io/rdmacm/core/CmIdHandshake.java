// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.bindings.rdma_conn_param;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.internal.NativeFunction;

/** What the two sides say to each other by an id, from the wish to connect to the end of the connection. */
final class CmIdHandshake {
    private static final NativeFunction CONNECT = NativeFunction.of("rdma_connect");
    private static final NativeFunction ACCEPT = NativeFunction.of("rdma_accept");
    private static final NativeFunction REJECT = NativeFunction.of("rdma_reject");
    private static final NativeFunction REJECT_ECE = NativeFunction.of("rdma_reject_ece");
    private static final NativeFunction ESTABLISH = NativeFunction.of("rdma_establish");
    private static final NativeFunction NOTIFY = NativeFunction.of("rdma_notify");
    private static final NativeFunction DISCONNECT = NativeFunction.of("rdma_disconnect");

    private static final Set<CmIdState> CAN_NOTIFY = EnumSet.of(CmIdState.CONNECTING, CmIdState.ACCEPTED,
            CmIdState.CONNECTED);
    private static final Set<CmIdState> CAN_DISCONNECT = EnumSet.of(CmIdState.CONNECTING, CmIdState.RESPONDED,
            CmIdState.ACCEPTED, CmIdState.CONNECTED, CmIdState.DISCONNECTING, CmIdState.DISCONNECTED,
            CmIdState.FAILED);

    private final CmId id;

    CmIdHandshake(CmId id) {
        this.id = id;
    }

    void connect(ConnectionParameters parameters) throws RdmaException {
        id.run("connect", EnumSet.of(CmIdState.ROUTE_RESOLVED), () -> {
            requireQueuePair("connect", parameters);
            PrivateDataLimit.CONNECT.check(id.portSpace, parameters.privateData());
            call(CONNECT, parameters);
            id.state = CmIdState.CONNECTING;
            id.relabel();
        });
    }

    void accept(ConnectionParameters parameters) throws RdmaException {
        id.run("accept", EnumSet.of(CmIdState.REQUESTED), () -> {
            requireQueuePair("accept", parameters);
            PrivateDataLimit.ACCEPT.check(id.portSpace, parameters.privateData());
            call(ACCEPT, parameters);
            id.state = CmIdState.ACCEPTED;
        });
    }

    void reject(byte[] privateData) throws RdmaException {
        reject(REJECT, privateData);
    }

    void rejectEce(byte[] privateData) throws RdmaException {
        reject(REJECT_ECE, privateData);
    }

    private void reject(NativeFunction function, byte[] privateData) throws RdmaException {
        id.run("reject", EnumSet.of(CmIdState.REQUESTED), () -> {
            PrivateDataLimit.REJECT.check(id.portSpace, privateData);
            try (Arena arena = Arena.ofConfined()) {
                long data = nativeCopy(privateData, arena);
                CmFailures.check(function, function.callInt(id.nativeAddress(), data, privateData.length), id.label());
            }
            id.state = CmIdState.FAILED;
        });
    }

    void establish() throws RdmaException {
        id.run("establish", EnumSet.of(CmIdState.RESPONDED), () -> {
            CmFailures.check(ESTABLISH, ESTABLISH.callInt(id.nativeAddress()), id.label());
            id.state = CmIdState.CONNECTED;
        });
    }

    /** Of the C constant of an asynchronous event. */
    void notifyOf(int event) throws RdmaException {
        id.run("notify", CAN_NOTIFY, () ->
                CmFailures.check(NOTIFY, NOTIFY.callInt(id.nativeAddress(), event), id.label()));
    }

    void disconnect() throws RdmaException {
        id.run("disconnect", CAN_DISCONNECT, () -> {
            if (id.state == CmIdState.FAILED) {
                return;
            }
            CmFailures.check(DISCONNECT, DISCONNECT.callInt(id.nativeAddress()), id.label());
            if (id.state != CmIdState.DISCONNECTED) {
                id.state = CmIdState.DISCONNECTING;
            }
        });
    }

    private void call(NativeFunction function, ConnectionParameters parameters) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(rdma_conn_param.layout()).address();
            parameters.write(struct, nativeCopy(parameters.privateData(), arena));
            CmFailures.check(function, function.callInt(id.nativeAddress(), struct), id.label());
        }
    }

    private static long nativeCopy(byte[] data, Arena arena) {
        return data.length == 0 ? 0 : arena.allocateFrom(ValueLayout.JAVA_BYTE, data).address();
    }

    private void requireQueuePair(String call, ConnectionParameters parameters) {
        if (id.openQueuePair() == null && parameters.queuePairNumber() == 0) {
            throw new IllegalStateException(call + " needs a queue pair: " + id
                    + " has none, next comes: createQueuePair");
        }
    }
}
