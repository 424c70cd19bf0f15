// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.error.RdmaException;

/** An endpoint that listens. */
record EndpointStand(Endpoint listener) implements Closeable {
    private static final int BACKLOG = 16;

    /** The one of a stage. */
    static EndpointStand of(Stage stage) throws Exception {
        return stage.kept(EndpointStand.class, () -> open(stage));
    }

    private static EndpointStand open(Stage stage) throws RdmaException {
        Endpoint listener = Endpoint.createPassive(stage.anyPort(), PortSpace.TCP, EndpointAttributes.defaults());
        boolean listening = false;
        try {
            listener.listen(BACKLOG);
            listening = true;
            return new EndpointStand(listener);
        } finally {
            if (!listening) {
                listener.close();
            }
        }
    }

    /** A client that may connect. */
    Endpoint client(Stage stage) throws RdmaException, InterruptedException {
        return Endpoint.createActive(listener.localAddress(), PortSpace.TCP, EndpointAttributes.defaults(),
                stage.patience());
    }

    /** Connects a client. */
    static void connect(Stage stage, Endpoint client) throws RdmaException, InterruptedException {
        client.connect(ConnectionParameters.defaults(), stage.patience());
        stage.tally().connected();
    }

    @Override
    public void close() throws RdmaException {
        listener.close();
    }
}
