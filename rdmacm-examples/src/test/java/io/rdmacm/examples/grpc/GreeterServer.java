// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.net.InetSocketAddress;

import io.grpc.Server;

/** A server of gRPC in a process of its own, which a test can kill. */
public final class GreeterServer {
    private GreeterServer() {
    }

    /** Takes the address to listen on and the transport, and prints the port. */
    public static void main(String[] arguments) throws Exception {
        Transport transport = Transport.valueOf(arguments[1]);
        Server server = transport.server(new InetSocketAddress(arguments[0], 0), transport.loops())
                .addService(new Greeter()).build().start();
        System.out.println("listening on port " + server.getPort());
        server.awaitTermination();
    }
}
