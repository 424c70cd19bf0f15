// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.netty.channel.EventLoopGroup;
import io.rdmacm.examples.support.HostConverter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code grpc_client}: makes one call of each kind. */
@Command(name = "grpc_client", header = "The client of the gRPC server.",
        description = {"Says hello, then has messages sent to it, sends some, and has some sent back. Checks the data.",
            "The server has to use RDMA or TCP as the client does."},
        footer = {"%nFor example:", "  rdmacm grpc_client -a 192.168.99.1 -p 50051 -C 64 -S 1048576"})
final class GrpcClient extends GrpcProgram {
    // of gRPC, unless a client or server sets another one
    private static final int LARGEST_MESSAGE = 1 << 22;

    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "The server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", required = true, description = "The port that the server printed.")
    private int port;

    @Option(names = "-m", paramLabel = "NAME", defaultValue = "world",
            description = "Whom the server greets (${DEFAULT-VALUE}).")
    private String name;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10",
            description = "How many messages to stream each way (${DEFAULT-VALUE}).")
    private int count;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "65536",
            description = "The bytes of each (${DEFAULT-VALUE}).")
    private int size;

    @Override
    void run(EventLoopGroup loops) throws IOException, InterruptedException {
        requirePort(port, true);
        require(count >= 0, "Invalid count " + count);
        requireRange("size", size, LARGEST_MESSAGE);
        ManagedChannel channel = transport().client(new InetSocketAddress(address, port), loops).build();
        try {
            makeCalls(new GreeterClient(channel));
        } catch (StatusRuntimeException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            throw failure(e);
        } finally {
            channel.shutdownNow();
        }
    }

    private void makeCalls(GreeterClient client) throws IOException, InterruptedException {
        print(client.hello(name));
        Amount amount = new Amount(count, size);
        String expected = amount.tally().toString();
        check("received", client.download(amount), expected);
        check("sent", client.upload(amount), expected);
        check("echoed", client.echo(amount), expected);
    }

    private void check(String what, String tally, String expected) throws IOException {
        if (!tally.equals(expected)) {
            throw new IOException(what + " " + tally + " instead of " + expected);
        }
        print(what + " " + tally);
    }

    private static IOException failure(StatusRuntimeException failed) {
        Status status = failed.getStatus();
        Throwable cause = status.getCause();
        return new IOException(failed.getMessage() + (cause == null ? "" : ": " + cause.getMessage()), failed);
    }
}
