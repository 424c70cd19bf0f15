// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

import io.grpc.Server;
import io.netty.channel.EventLoopGroup;
import io.rdmacm.examples.support.HostConverter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code grpc_server}: a server of gRPC. */
@Command(name = "grpc_server", header = "A gRPC server, over RDMA.",
        description = "Greets, sends, receives and echoes messages. It runs until it is interrupted.",
        footer = {"%nFor example:", "  rdmacm grpc_server -a 192.168.99.1 -p 50051"})
final class GrpcServer extends GrpcProgram {
    @Option(names = "-a", paramLabel = "ADDR", defaultValue = "0.0.0.0", converter = HostConverter.class,
            description = "The address to listen on; by default every IPv4 address.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "0",
            description = "The port; by default a free one, which is printed.")
    private int port;

    @Override
    void run(EventLoopGroup loops) throws IOException, InterruptedException {
        requirePort(port, false);
        Server server = transport().server(new InetSocketAddress(address, port), loops).addService(new Greeter())
                .build().start();
        try {
            print("listening on port " + server.getPort());
            server.awaitTermination();
        } finally {
            server.shutdownNow();
        }
    }
}
