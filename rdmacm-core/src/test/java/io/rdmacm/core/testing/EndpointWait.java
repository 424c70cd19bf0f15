// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** A call of an endpoint that waits for ever, with all that it needs. */
public final class EndpointWait implements AutoCloseable {
    /** All of them, by the name of the method. */
    public static final Map<String, Maker> ALL = new TreeMap<>(Map.of(
            "getRequest", () -> new EndpointWait(EndpointPair.listen(null), Endpoint::getRequest),
            "connect", EndpointWait::connecting,
            "accept", EndpointWait::accepting,
            "disconnect", EndpointWait::disconnecting,
            "getSendCompletion", () -> connected(Endpoint::getSendCompletion),
            "getReceiveCompletion", () -> connected(Endpoint::getReceiveCompletion),
            "getSendCompletions", () -> connected((e, t) -> e.getSendCompletions(WorkCompletions.allocate(2), t)),
            "getReceiveCompletions",
            () -> connected((e, t) -> e.getReceiveCompletions(WorkCompletions.allocate(2), t))));

    private final Endpoint endpoint;
    private final Call call;
    private final List<Closing> others;

    private EndpointWait(Endpoint endpoint, Call call, Closing... others) {
        this.endpoint = endpoint;
        this.call = call;
        this.others = List.of(others);
    }

    @FunctionalInterface
    private interface Closing {
        void close() throws RdmaException;
    }

    @FunctionalInterface
    private interface Call {
        void run(Endpoint endpoint, Duration timeout) throws Exception;
    }

    /** Creates the objects. */
    @FunctionalInterface
    public interface Maker {
        /** Creates them. */
        EndpointWait make() throws Exception;
    }

    /** The endpoint whose call waits. */
    public Endpoint endpoint() {
        return endpoint;
    }

    /** Waits. */
    public void run(Duration timeout) throws Exception {
        call.run(endpoint, timeout);
    }

    @Override
    public void close() throws RdmaException {
        endpoint.close();
        for (Closing other : others) {
            other.close();
        }
    }

    private static EndpointWait connected(Call call) throws Exception {
        EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults());
        return new EndpointWait(pair.client, call, pair::close);
    }

    /** A client whose server does not answer. */
    private static EndpointWait connecting() throws Exception {
        Endpoint listener = EndpointPair.listen(null);
        return new EndpointWait(active(listener), (endpoint, timeout) -> endpoint.connect(
                ConnectionParameters.defaults(), timeout), listener::close);
    }

    /** A server whose client does not take the event that would complete the handshake. */
    private static EndpointWait accepting() throws Exception {
        RdmaTestDevice.assumeNotIwarp("an accept waits for nobody");
        Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
        EventChannel channel = EventChannel.open();
        End client = new End(Loopback.resolved(channel, listener.localAddress()));
        client.id.connect(ConnectionParameters.defaults());
        return new EndpointWait(listener.getRequest(Loopback.TIMEOUT),
                (endpoint, timeout) -> endpoint.accept(ConnectionParameters.defaults(), timeout), client::close,
                channel::close, listener::close);
    }

    /** A client whose server does not answer the disconnect. */
    private static EndpointWait disconnecting() throws Exception {
        RdmaTestDevice.assumeNotIwarp("each side ends by itself");
        EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults());
        return new EndpointWait(pair.client, Endpoint::disconnect, pair::close);
    }

    private static Endpoint active(Endpoint listener) throws RdmaException, InterruptedException {
        return Endpoint.createActive(listener.localAddress(), PortSpace.TCP, EndpointAttributes.defaults(),
                Loopback.TIMEOUT);
    }
}
