// SPDX-License-Identifier: Apache-2.0
// Runs with nothing else.

import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

import com.sun.net.httpserver.HttpServer;

/** The JDK's HTTP server. */
public final class JdkHttp implements Program {
    public static void main(String[] arguments) throws Exception {
        Program.run(new JdkHttp(), arguments);
    }

    @Override
    public int serve(String address) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(address, 0), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                byte[] body = exchange.getRequestBody().readAllBytes();
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        return server.getAddress().getPort();
    }

    @Override
    public Client client(String address, int port) throws Exception {
        return Program.http(address, port);
    }
}
