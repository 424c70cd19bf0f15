// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.eventserver;

import java.io.IOException;

import io.rdmacm.examples.support.Console;

/**
 * The server's part. It does not notice how the client reads and writes its memory. When the client reports that it is
 * done, the server looks at its memory, and writes an answer into the client's memory.
 */
final class ServerProtocol implements PeerConnection.Protocol {
    /** The index of the text in the server's memory that clients write. */
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
            throw new IOException("the client is done before it has offered its memory");
        }
        String text = connection.text(FROM_CLIENT);
        console.print(client + " wrote: " + text);
        connection.text(ANSWER, "the server has read: " + text);
        // The write is posted first, so it has arrived when the message is received.
        connection.write(ANSWER, remote, ClientProtocol.FROM_SERVER);
        connection.sendDone();
        connection.complete();
    }

    @Override
    public void done(PeerConnection connection, PeerConnection.Work work) {
        // nothing waits for it
    }
}
