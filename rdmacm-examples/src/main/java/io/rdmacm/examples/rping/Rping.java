// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;

import io.rdmacm.examples.support.ExampleProgram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code rping}, as rping(1): the client offers some memory, the server reads a ping from it and writes it
 * back. Client and server also work with those of rdma-core. This class holds the options; {@link RpingServer} and
 * {@link RpingClient} are the two roles.
 */
@Command(name = "rping", header = "Ping-pong with RDMA reads and writes.",
        description = "The client offers its memory; the server reads a ping from it and writes it back.",
        footer = {"%nFor example, a server, and a client on another machine that pings it ten times:",
            "  rdmacm rping -s -v", "  rdmacm rping -c -a 192.168.99.1 -v -C 10"})
final class Rping extends ExampleProgram {
    // The limits of the C program: room for the start of a ping; and the server's size must suit all clients.
    private static final int MIN_SIZE = 23;
    private static final int MAX_SIZE = 65_535;

    @Option(names = "-s", description = "Run as the server.")
    private boolean server;

    @Option(names = "-c", description = "Run as the client.")
    private boolean client;

    @Option(names = "-a", paramLabel = "ADDR",
            description = "Server: the address to listen on; by default every IPv4 address (:: for every IPv6"
                    + " address). Client: the server's address or name.")
    private InetAddress address;

    @Option(names = "-I", paramLabel = "ADDR",
            description = "Client: the local address to connect from.")
    private InetAddress source;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7174",
            description = "The server's port (${DEFAULT-VALUE}); with 0, the server chooses a free one and prints it.")
    private int port;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "0",
            description = "Client: how many pings to send; 0 (the default) for no limit.")
    private int count;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "64",
            description = "The length of a ping in bytes (${DEFAULT-VALUE}); the server's must be at least the"
                    + " client's.")
    int size;

    @Option(names = "-v", description = "Print the data of each ping.")
    boolean verbose;

    @Option(names = "-V", description = "Client: verify the data that comes back.")
    boolean verify;

    @Option(names = "-d", description = "Print each step.")
    private boolean debug;

    @Option(names = "-P", description = "Server: serve any number of clients, several at a time, until interrupted.")
    boolean persistent;

    @Option(names = "-q", description = "Create the queue pair without the connection manager, and move it from state"
            + " to state.")
    boolean ownQueuePair;

    @Option(names = "--wait-server", paramLabel = "SECONDS", defaultValue = "0",
            description = "Client: how long to try again while no server listens (${DEFAULT-VALUE}).")
    private int patience;

    @Override
    protected void run() throws IOException, InterruptedException {
        require(server != client, "either -s or -c: be the server or the client");
        require(size >= MIN_SIZE && size <= MAX_SIZE,
                "Invalid size " + size + " (valid range is " + MIN_SIZE + " to " + MAX_SIZE + ")");
        require(count >= 0, "Invalid count " + count);
        require(patience >= 0, "Invalid time to wait " + patience);
        requirePort(port, client);
        require(server || address != null, "a client needs the server's address: -a ADDR");
        require(server || !persistent, "-P is for servers");
        require(client || patience == 0, "--wait-server is for clients");
        if (server) {
            new RpingServer(this).run();
        } else {
            new RpingClient(this).run();
        }
    }

    /** Returns the server's address, to listen on or to connect to. */
    InetSocketAddress address() throws UnknownHostException {
        return new InetSocketAddress(address == null ? InetAddress.getByName("0.0.0.0") : address, port);
    }

    /** Returns the client's local address, or null for any. */
    InetSocketAddress source() {
        return source == null ? null : new InetSocketAddress(source, 0);
    }

    /** Returns whether a client has finished after so many pings. */
    boolean isEnough(int pings) {
        return count != 0 && pings >= count;
    }

    /** Returns how long a client tries again while no server listens. */
    Duration patience() {
        return Duration.ofSeconds(patience);
    }

    /** Prints a line that helps to follow each step, if it is wanted. */
    void debug(String format, Object... arguments) {
        if (debug) {
            print(String.format(format, arguments));
        }
    }
}
