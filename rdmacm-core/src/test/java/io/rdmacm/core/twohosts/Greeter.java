// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.PortSpace;

/** Accepts one connection and waits for its end. It says its port, and at the end "disconnected". */
final class Greeter implements Role {
    @Override
    public void play(Line line, String... arguments) throws Exception {
        try (Endpoint listener = Endpoint.createPassive(OtherHost.here(), PortSpace.TCP, Server.attributes())) {
            listener.listen(4);
            line.say(listener.localAddress().getPort());
            try (Endpoint endpoint = listener.getRequest(Server.TIMEOUT)) {
                try {
                    endpoint.accept(ConnectionParameters.defaults(), Server.TIMEOUT);
                    endpoint.getReceiveCompletion(Server.TIMEOUT);
                } catch (DisconnectedException e) {
                    // from the accept when the wire has lost that the client is connected, and not that it disconnects
                    line.say("disconnected");
                }
            }
        }
    }
}
