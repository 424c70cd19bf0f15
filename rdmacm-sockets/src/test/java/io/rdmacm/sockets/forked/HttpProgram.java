// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.concurrent.Executors;

import com.sun.net.httpserver.HttpServer;

/** A program that knows nothing of RDMA: the JDK's HTTP server, bound to the first argument, asked at the others. */
public final class HttpProgram {
    private static final int SIZE = 300_000;

    private HttpProgram() {
    }

    /** Prints what came back. */
    public static void main(String[] arguments) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getByName(arguments[0]), 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, body.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        });
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        byte[] data = new byte[SIZE];
        for (int i = 0; i < SIZE; i++) {
            data[i] = (byte) (i * 7 + (i >> 9));
        }
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (String host : Arrays.asList(arguments).subList(1, arguments.length)) {
                URI uri = URI.create("http://" + host + ":" + server.getAddress().getPort() + "/");
                for (int i = 0; i < 3; i++) {
                    HttpResponse<byte[]> response = client.send(HttpRequest.newBuilder(uri)
                            .POST(HttpRequest.BodyPublishers.ofByteArray(data)).build(),
                            HttpResponse.BodyHandlers.ofByteArray());
                    System.out.println(host + " " + Arrays.equals(data, response.body()));
                }
                System.out.println("plain " + host + " " + Arrays.equals(data, plain(uri.toURL(), data)));
            }
        }
        server.stop(0);
        System.exit(0);
    }

    /** Over a java.net.Socket. */
    private static byte[] plain(URL url, byte[] data) throws IOException {
        var connection = url.openConnection();
        connection.setDoOutput(true);
        try (OutputStream out = connection.getOutputStream()) {
            out.write(data);
        }
        return connection.getInputStream().readAllBytes();
    }
}
