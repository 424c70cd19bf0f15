// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

import io.grpc.Server;
import io.netty.channel.EventLoopGroup;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code grpc_server}: a server of gRPC. */
@Command(name = "grpc_server", sortOptions = false, header = "A gRPC server, over RDMA.",
        description = "Greets, sends, receives and echoes messages. It runs until it is interrupted.",
        footer = {"%nFor example:", "  rdmacm grpc_server -a 192.168.99.1 -p 50051"})
public final class GrpcServer implements Callable<Integer> {
    private static final int SECONDS = 10;

    @Option(names = "-a", paramLabel = "ADDR", defaultValue = "0.0.0.0", converter = HostConverter.class,
            description = "The address to listen on; by default every IPv4 address.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "0",
            description = "The port; by default a free one, which is printed.")
    private int port;

    @Option(names = "-T", paramLabel = "TRANSPORT", defaultValue = "rdma",
            description = "rdma, epoll (RDMA with Netty's event loop of epoll), or tcp (${DEFAULT-VALUE}).")
    private Transport transport;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public GrpcServer() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.requirePort(spec, port);
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        EventLoopGroup loops = transport.loops();
        try {
            Server server = transport.server(new InetSocketAddress(address, port), loops).addService(new Greeter())
                    .build().start();
            try {
                console.print("listening on port " + server.getPort());
                server.awaitTermination();
            } finally {
                server.shutdownNow();
            }
        } finally {
            loops.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
        }
        return 0;
    }
}
