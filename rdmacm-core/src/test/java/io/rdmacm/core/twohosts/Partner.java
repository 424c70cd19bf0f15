// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;

/** The program of the server's host: plays the roles that tests on the client's host ask for. */
final class Partner {
    static final int PORT = 7000;

    private Partner() {
    }

    /** Serves until it is ended. */
    public static void main(String[] args) throws IOException {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(new InetSocketAddress(System.getenv("RDMACM_LOCAL_CONTROL_ADDRESS"), PORT));
            while (true) {
                Socket socket = server.accept();
                Thread.ofPlatform().daemon().start(() -> serve(socket));
            }
        }
    }

    private static void serve(Socket socket) {
        try (Line line = new Line(socket)) {
            String request = line.hear();
            if (request != null) {
                play(line, request.split(" "));
            }
        } catch (IOException e) {
            System.err.println("the test has hung up: " + e);
        }
    }

    private static void play(Line line, String... request) throws IOException {
        try {
            Role role = (Role) Class.forName(request[0]).getDeclaredConstructor().newInstance();
            role.play(line, Arrays.copyOfRange(request, 1, request.length));
        } catch (Exception | Error e) {
            // the test is told the message; where it came from, the output of this host
            e.printStackTrace();
            line.fail(e);
        }
    }
}
