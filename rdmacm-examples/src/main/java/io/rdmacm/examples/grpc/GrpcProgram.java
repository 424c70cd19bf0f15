// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import io.netty.channel.EventLoopGroup;
import io.rdmacm.examples.support.ExampleProgram;
import picocli.CommandLine.Option;

/** What the server and the client have in common: the transport, and its event loops. */
abstract class GrpcProgram extends ExampleProgram {
    private static final int SECONDS = 10;

    @Option(names = "-T", paramLabel = "TRANSPORT", defaultValue = "rdma",
            description = "rdma, epoll (RDMA with Netty's event loop of epoll), or tcp (${DEFAULT-VALUE}).")
    private Transport transport;

    Transport transport() {
        return transport;
    }

    /** Runs the program with event loops that end with it. */
    abstract void run(EventLoopGroup loops) throws IOException, InterruptedException;

    @Override
    protected final void run() throws IOException, InterruptedException {
        EventLoopGroup loops = transport.loops();
        try {
            run(loops);
        } finally {
            loops.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }
}
