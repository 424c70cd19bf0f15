// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;

/** Connects to the port of the test that it is told. */
final class Caller implements Role {
    @Override
    public void play(Line line, String... arguments) throws Exception {
        try (Endpoint endpoint = Client.resolved(Integer.parseInt(arguments[0]), Client.PATIENT)) {
            endpoint.connect(ConnectionParameters.defaults(), Server.TIMEOUT);
            line.hear();
        }
    }
}
