// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.eventserver;

import java.io.IOException;

import io.rdmacm.examples.support.Console;

/**
 * What the server does with one client: nothing while the client reads and writes its memory, for it is not told. When
 * the client says that it is done, it looks what is there, and writes an answer into the client's memory.
 */
final class ServerProtocol implements PeerConnection.Protocol {
    /** The text of the server's memory that clients write. */
    static final int FROM_CLIENT = 0;

    private static final int ANSWER = 1;

    private final String client;
    private final Console console;
    private RegionMessage remote;

    ServerProtocol(String client, Console console) {
        this.client = client;
        this.console = console;
    }

    @Override
    public void received(PeerConnection connection, RegionMessage message) throws IOException {
        if (message.kind() == RegionMessage.Kind.REGION) {
            remote = message;
            return;
        }
        if (remote == null) {
            throw new IOException("it is done before it has begun");
        }
        String text = connection.text(FROM_CLIENT);
        console.print(client + " wrote: " + text);
        connection.text(ANSWER, "the server has read: " + text);
        // The write comes first: it has arrived when the message is received.
        connection.write(ANSWER, remote, ClientProtocol.FROM_SERVER);
        connection.sendDone();
        connection.complete();
    }

    @Override
    public void done(PeerConnection connection, PeerConnection.Work work) {
        // Nothing waits for it.
    }
}
