// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.PortSpace;

/**
 * Listens, goes as far with one client as the argument says, and no further until the test hangs up: {@code listening},
 * {@code requested} or {@code accepted}. It says its port, and each step when it is done.
 */
final class Silent implements Role {
    @Override
    public void play(Line line, String... arguments) throws Exception {
        try (Endpoint listener = Endpoint.createPassive(OtherHost.here(), PortSpace.TCP, Server.attributes())) {
            listener.listen(4);
            line.say(listener.localAddress().getPort());
            if (arguments[0].equals("listening")) {
                line.hear();
                return;
            }
            try (Endpoint endpoint = listener.getRequest(Server.TIMEOUT)) {
                line.say("requested");
                if (arguments[0].equals("accepted")) {
                    endpoint.accept(ConnectionParameters.defaults(), Server.TIMEOUT);
                    line.say("accepted");
                }
                line.hear();
            }
        }
    }
}
