// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.error.RdmaException;

/** A listening endpoint, and clients for it. */
record EndpointFixture(Endpoint listener) implements Closeable {
    private static final int BACKLOG = 16;

    /** Returns the fixture of a worker. */
    static EndpointFixture of(Worker worker) throws Exception {
        return worker.shared(EndpointFixture.class, () -> open(worker));
    }

    private static EndpointFixture open(Worker worker) throws RdmaException {
        Endpoint listener = Endpoint.createPassive(worker.anyPort(), PortSpace.TCP, EndpointAttributes.defaults());
        boolean listening = false;
        try {
            listener.listen(BACKLOG);
            listening = true;
            return new EndpointFixture(listener);
        } finally {
            if (!listening) {
                listener.close();
            }
        }
    }

    /** Creates a client that is ready to connect. */
    Endpoint client(Worker worker) throws RdmaException, InterruptedException {
        return Endpoint.createActive(listener.localAddress(), PortSpace.TCP, EndpointAttributes.defaults(),
                worker.timeout());
    }

    /** Connects a client. */
    static void connect(Worker worker, Endpoint client) throws RdmaException, InterruptedException {
        client.connect(ConnectionParameters.defaults(), worker.timeout());
        worker.counters().countConnection();
    }

    @Override
    public void close() throws RdmaException {
        listener.close();
    }
}
