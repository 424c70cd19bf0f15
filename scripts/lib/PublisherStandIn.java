import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

import com.sun.net.httpserver.HttpServer;

/// Stands in for the server of Maven Central that takes bundles: takes every upload and keeps none, so that the plugin
/// that makes bundles can be run without an account. Run as `java PublisherStandIn.java FILE`; writes its address to the
/// file and serves until it is killed.
public final class PublisherStandIn {

    private PublisherStandIn() {
    }

    public static void main(String[] args) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.getRequestBody().transferTo(java.io.OutputStream.nullOutputStream());
            byte[] id = UUID.randomUUID().toString().getBytes();
            exchange.getResponseHeaders().add("Content-Type", "text/plain");
            exchange.sendResponseHeaders(201, id.length);
            exchange.getResponseBody().write(id);
            exchange.close();
        });
        server.start();
        Path fresh = Files.createTempFile(Path.of(args[0]).toAbsolutePath().getParent(), "address", "");
        Files.writeString(fresh, "http://127.0.0.1:" + server.getAddress().getPort());
        Files.move(fresh, Path.of(args[0]));
    }
}
