// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.eventserver;

import java.io.IOException;

import io.rdmacm.examples.support.Console;

/**
 * The client's part: it writes a text into the server's memory, reads it back and compares, for some rounds; then it
 * tells the server, and waits for the answer. The poller calls it after each completed step.
 */
final class ClientProtocol implements PeerConnection.Protocol {
    /** The index of the text in the client's memory that the server writes. */
    static final int FROM_SERVER = 2;

    private static final int WRITTEN = 0;
    private static final int READ = 1;

    private final String text;
    private final int rounds;
    private final Console console;
    private RegionMessage remote;
    private int round;

    ClientProtocol(String text, int rounds, Console console) {
        this.text = text;
        this.rounds = rounds;
        this.console = console;
    }

    @Override
    public void received(PeerConnection connection, RegionMessage message) throws IOException {
        if (message.kind() == RegionMessage.Kind.REGION) {
            console.print("the server offers " + message.length() + " bytes of memory");
            remote = message;
            write(connection);
            return;
        }
        console.print("the server wrote: " + connection.text(FROM_SERVER));
        connection.complete();
        connection.disconnect();
    }

    @Override
    public void done(PeerConnection connection, PeerConnection.Work work) throws IOException {
        switch (work) {
            case WRITE -> connection.read(READ, remote, ServerProtocol.FROM_CLIENT);
            case READ -> {
                compare(connection);
                round++;
                if (round < rounds) {
                    write(connection);
                } else {
                    console.print(rounds + " rounds: each read returned what was written");
                    connection.sendDone();
                }
            }
            default -> {
                // A message was sent; the server's answer comes next.
            }
        }
    }

    private void write(PeerConnection connection) throws IOException {
        connection.text(WRITTEN, text + " (" + (round + 1) + ")");
        connection.write(WRITTEN, remote, ServerProtocol.FROM_CLIENT);
    }

    private void compare(PeerConnection connection) throws IOException {
        if (!connection.text(READ).equals(connection.text(WRITTEN))) {
            throw new IOException("round " + (round + 1) + " read '" + connection.text(READ) + "' where '"
                    + connection.text(WRITTEN) + "' was written");
        }
    }
}
