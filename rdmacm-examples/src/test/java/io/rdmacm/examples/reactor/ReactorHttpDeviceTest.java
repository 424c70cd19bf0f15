// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.timeout.ReadTimeoutException;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.netty.RdmaIoHandler;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.PrematureCloseException;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRoutes;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.tcp.TcpClient;

/**
 * Reactor Netty's HTTP over RDMA: what its own tests, which are not published and connect to the loopback address, are
 * about. The server has our event loop, and the client that of epoll.
 */
@Nightly
@RequiresRdma
class ReactorHttpDeviceTest {
    private static final int CONNECTIONS = 4;

    private final RdmaLoops serverLoops = new RdmaLoops(RdmaIoHandler.newFactory());
    private final RdmaLoops clientLoops = new RdmaLoops(EpollIoHandler.newFactory());
    private final ConnectionProvider connections = ConnectionProvider.builder("rdma")
            .maxConnections(CONNECTIONS).pendingAcquireMaxCount(-1).build();
    private DisposableServer server;

    @AfterEach
    void close() {
        connections.disposeLater().block(Program.LIMIT);
        if (server != null) {
            server.disposeNow(Program.LIMIT);
        }
        Mono.when(serverLoops.disposeLater(Duration.ZERO, Program.LIMIT),
                clientLoops.disposeLater(Duration.ZERO, Program.LIMIT)).block(Program.LIMIT);
    }

    /** The protocols that need no TLS, and the change from one to the other. */
    enum Protocol {
        HTTP11(HttpProtocol.HTTP11),
        H2C(HttpProtocol.H2C),
        UPGRADE(HttpProtocol.HTTP11, HttpProtocol.H2C);

        private final HttpProtocol[] protocols;

        Protocol(HttpProtocol... protocols) {
            this.protocols = protocols;
        }
    }

    /** Starts a server, and returns a client of it. */
    private HttpClient client(Protocol protocol, Consumer<? super HttpServerRoutes> routes) {
        server = HttpServer.create().runOn(serverLoops).protocol(protocol.protocols)
                .bindAddress(() -> new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0))
                .compress(true).route(routes).bindNow(Program.LIMIT);
        return HttpClient.create(connections).runOn(clientLoops).protocol(protocol.protocols)
                .remoteAddress(server::address);
    }

    private static void hello(HttpServerRoutes routes) {
        routes.get("/hello", (request, response) -> response.sendString(Mono.just("Hello")));
    }

    private static void assertStillWorks(HttpClient client) {
        assertThat(client.get().uri("/hello").responseContent().aggregate().asString().block(Program.LIMIT))
                .isEqualTo("Hello");
    }

    private static byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    private static byte[] echoed(HttpClient client, Flux<byte[]> body) {
        return client.post().uri("/echo").send(ByteBufFlux.fromInbound(body)).responseSingle(
                (response, content) -> content.asByteArray().defaultIfEmpty(new byte[0])).block(Program.LIMIT);
    }

    // Reactor Netty itself cannot change the protocol with a request that has a body.
    static Stream<Arguments> bodies() {
        return Stream.of(Protocol.HTTP11, Protocol.H2C).flatMap(protocol -> Stream.of(0, 1, 65_537, 8 << 20)
                .map(size -> Arguments.of(protocol, size)));
    }

    @ParameterizedTest
    @MethodSource("bodies")
    void bodiesComeBackAsTheyWere(Protocol protocol, int size) {
        HttpClient client = client(protocol, routes -> routes.post("/echo", (request, response) ->
                response.send(request.receive().retain())));
        byte[] body = bytes(size);
        assertThat(echoed(client, Flux.just(body))).isEqualTo(body);
        assertThat(echoed(client.headers(headers -> headers.set("Content-Length", size)), Flux.just(body)))
                .isEqualTo(body);
        assertThat(echoed(client.compress(true), Flux.just(body))).isEqualTo(body);
    }

    @ParameterizedTest
    @EnumSource
    void connectionsAreUsedAgain(Protocol protocol) {
        Set<String> used = ConcurrentHashMap.newKeySet();
        HttpClient client = client(protocol, routes -> routes.get("/number/{number}", (request, response) -> {
            request.withConnection(connection -> used.add(String.valueOf(connection.channel().remoteAddress())));
            return response.sendString(Mono.just(request.param("number")));
        }));
        List<String> numbers = Flux.range(0, 300).flatMap(number -> client.get().uri("/number/" + number)
                .responseContent().aggregate().asString(), 32).collectList().block(Program.LIMIT);
        assertThat(numbers).hasSize(300).doesNotHaveDuplicates();
        assertThat(used).hasSizeBetween(1, CONNECTIONS);
    }

    @ParameterizedTest
    @EnumSource
    void aSlowReaderHoldsTheServerBack(Protocol protocol) {
        byte[] chunk = bytes(32 << 10);
        int chunks = 500;
        HttpClient client = client(protocol, routes -> routes.get("/chunks", (request, response) ->
                response.send(Flux.range(0, chunks).map(i -> Unpooled.wrappedBuffer(chunk)))));
        Long read = client.get().uri("/chunks").responseContent().asByteArray().limitRate(1)
                .map(part -> (long) part.length).reduce(Long::sum).block(Program.LIMIT);
        assertThat(read).isEqualTo((long) chunks * chunk.length);
    }

    @ParameterizedTest
    @EnumSource
    void filesAreSent(Protocol protocol, @TempDir Path folder) throws IOException {
        byte[] content = bytes(3_000_001);
        Path file = Files.write(folder.resolve("file"), content);
        HttpClient client = client(protocol, routes -> routes.get("/file", (request, response) ->
                response.sendFile(file)));
        assertThat(client.get().uri("/file").responseContent().aggregate().asByteArray().block(Program.LIMIT))
                .isEqualTo(content);
    }

    @ParameterizedTest
    @EnumSource
    void statusHeadersAndTrailers(Protocol protocol) {
        HttpClient client = client(protocol, routes -> routes.get("/headers", (request, response) -> response
                .status(HttpResponseStatus.ACCEPTED).header("answer", request.requestHeaders().get("question"))
                .header("Trailer", "sum").trailerHeaders(trailers -> trailers.set("sum", "42"))
                .sendString(Flux.just("a", "b"))));
        String seen = client.headers(headers -> headers.set("question", "q")).get().uri("/headers")
                .responseSingle((response, content) -> content.asString().zipWith(response.trailerHeaders())
                        .map(both -> response.status().code() + response.responseHeaders().get("answer")
                                + both.getT1() + both.getT2().get("sum")))
                .block(Program.LIMIT);
        assertThat(seen).isEqualTo("202qab42");
        assertThat(client.get().uri("/nowhere").response().block(Program.LIMIT).status().code()).isEqualTo(404);
    }

    @ParameterizedTest
    @EnumSource
    void theServerIsToldOfACancellation(Protocol protocol) throws InterruptedException {
        CountDownLatch cancelled = new CountDownLatch(1);
        HttpClient client = client(protocol, routes -> {
            hello(routes);
            routes.get("/endless", (request, response) -> response.send(
                    Flux.just(Unpooled.copiedBuffer("begun", StandardCharsets.US_ASCII))
                            .concatWith(Flux.<ByteBuf>never().doOnCancel(cancelled::countDown)), each -> true));
        });
        assertThat(client.get().uri("/endless").responseContent().asString().blockFirst(Program.LIMIT))
                .isEqualTo("begun");
        assertThat(cancelled.await(Program.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertStillWorks(client);
    }

    @ParameterizedTest
    @EnumSource
    void aLateAnswerIsATimeout(Protocol protocol) {
        HttpClient client = client(protocol, routes -> {
            hello(routes);
            routes.get("/never", (request, response) -> Mono.never());
        });
        assertThatThrownBy(() -> client.responseTimeout(Duration.ofMillis(100)).get().uri("/never").response()
                .block(Program.LIMIT)).isInstanceOf(ReadTimeoutException.class);
        assertStillWorks(client);
    }

    @ParameterizedTest
    @EnumSource
    void aServerThatClosesEndsTheAnswer(Protocol protocol) {
        HttpClient client = client(protocol, routes -> {
            hello(routes);
            routes.get("/close", (request, response) -> {
                response.withConnection(connection -> whole(connection).channel().close());
                return Mono.never();
            });
        });
        assertThatThrownBy(() -> client.disableRetry(true).get().uri("/close").response().block(Program.LIMIT))
                .hasRootCauseInstanceOf(PrematureCloseException.class);
        assertStillWorks(client);
    }

    /** Returns the connection, and not only a stream of HTTP/2 in it. */
    private static Connection whole(Connection connection) {
        return connection.channel().parent() == null || connection.channel().parent() instanceof ServerChannel
                ? connection : Connection.from(connection.channel().parent());
    }

    @Test
    void requestsInOnePacketAreAnsweredInTurn() {
        client(Protocol.HTTP11, routes -> routes.get("/{n}", (request, response) ->
                // The first answers are the last to be ready.
                response.sendString(Mono.just("<" + request.param("n") + ">").delayElement(Duration.ofMillis(
                        10L * (9 - Integer.parseInt(request.param("n"))))))));
        String requests = Stream.iterate(0, n -> n + 1).limit(9).map(n -> "GET /" + n + " HTTP/1.1\r\nHost: x\r\n\r\n")
                .collect(Collectors.joining());
        Connection connection = TcpClient.create().runOn(clientLoops).remoteAddress(server::address)
                .connectNow(Program.LIMIT);
        connection.outbound().sendString(Mono.just(requests)).then().block(Program.LIMIT);
        String answers = connection.inbound().receive().asString().scan(String::concat)
                .takeUntil(all -> all.contains("<8>")).blockLast(Program.LIMIT);
        connection.disposeNow(Program.LIMIT);
        assertThat(answers.replaceAll("(?s)[^<]*<(\\d)>[^<]*", "$1")).isEqualTo("012345678");
    }

    @Test
    void webSocketsCarryFramesBothWays() {
        HttpClient client = client(Protocol.HTTP11, routes -> routes.ws("/socket", (in, out) -> out.send(
                in.receive().retain())));
        List<String> frames = Stream.iterate(1, n -> n * 4).limit(8).map("x"::repeat).toList();
        List<String> back = client.websocket().uri("/socket").handle((in, out) -> out.sendString(
                        Flux.fromIterable(frames)).then().thenMany(in.aggregateFrames().receive().asString()
                .take(frames.size()))).collectList().block(Program.LIMIT);
        assertThat(back).isEqualTo(frames);
    }

    @Test
    void aWebSocketIsClosedWithItsStatus() {
        HttpClient client = client(Protocol.HTTP11, routes -> routes.ws("/socket", (in, out) ->
                out.sendClose(4321, "enough")));
        WebSocketCloseStatus status = client.websocket().uri("/socket").handle((in, out) ->
                in.receiveCloseStatus()).blockFirst(Program.LIMIT);
        assertThat(status).returns(4321, WebSocketCloseStatus::code).returns("enough",
                WebSocketCloseStatus::reasonText);
    }
}
