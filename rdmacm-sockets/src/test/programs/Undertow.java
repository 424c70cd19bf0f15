// SPDX-License-Identifier: Apache-2.0
// Runs with io.undertow:undertow-core:2.4.4.Final

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

import io.undertow.server.handlers.BlockingHandler;

/** Undertow's HTTP server. */
public final class Undertow implements Program {
    public static void main(String[] arguments) throws Exception {
        Program.run(new Undertow(), arguments);
    }

    @Override
    public int serve(String address) throws Exception {
        var server = io.undertow.Undertow.builder().addHttpListener(0, address)
                .setHandler(new BlockingHandler(exchange -> exchange.getResponseSender()
                        .send(ByteBuffer.wrap(exchange.getInputStream().readAllBytes()))))
                .build();
        server.start();
        return ((InetSocketAddress) server.getListenerInfo().getFirst().getAddress()).getPort();
    }

    @Override
    public Client client(String address, int port) throws Exception {
        return Program.http(address, port);
    }
}
