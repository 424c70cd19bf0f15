// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.examples.support.PeerProgram;
import picocli.CommandLine.Option;

/**
 * What {@link Rstream} and {@link Riostream} have in common: their options, the tests that these ask for, and the
 * streams of each test.
 */
abstract class StreamProgram extends PeerProgram {
    private static final int MAX_SIZE = 1 << 29;
    private static final String ALL = "all";

    @Option(names = "-s", paramLabel = "ADDR", description = "Run as a client of this server.")
    private String server;

    @Option(names = "-b", paramLabel = "ADDR",
            description = "The local address to listen on or to connect from.")
    private String bind;

    @Option(names = "-f", paramLabel = "FORMAT", defaultValue = "name",
            description = "The format of the addresses: name (the default), ip or ipv6. The gid of C is refused,"
                    + " because streams have IP addresses.")
    private String format;

    @Option(names = "-B", paramLabel = "SIZE", defaultValue = "524288",
            description = "The size of the send buffer and of the receive buffer in bytes (${DEFAULT-VALUE}).")
    int bufferSize;

    @Option(names = "-i", paramLabel = "SIZE", defaultValue = "64",
            description = "How many bytes are sent inline in the tests of latency (${DEFAULT-VALUE}).")
    private int inlineSize;

    @Option(names = "-I", paramLabel = "COUNT", description = "How often the transfers are repeated (1).")
    private Integer iterations;

    @Option(names = "-C", paramLabel = "COUNT",
            description = "How many transfers are sent before the peer answers with as many (1000).")
    private Integer count;

    @Option(names = "-S", paramLabel = "SIZE",
            description = "The length of a transfer in bytes (1000), or all for a series of many sizes. Without -S, -C"
                    + " and -I, a series of a few sizes.")
    private String size;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471", description = "The port (${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "-T", paramLabel = "TEST", converter = TestOption.Converter.class,
            description = {"How to transfer data; may be given several times:",
                "a|async: wait before each call (as with poll)",
                "b|blocking: sleep while there is nothing to do, or no room",
                "n|nonblocking: never sleep (the default)", "v|verify: check the data",
                "s|sockets: rstream over TCP",
                "f|fork: rstream over TCP, a server serves each connection in a thread, since a JVM cannot fork",
                "r|resolve: rstream resolves addresses with librdmacm"})
    private List<TestOption> tests = List.of();

    /** The address to listen on or to connect from, null for a client that connects from any. */
    InetSocketAddress local;
    InetSocketAddress peer;

    private byte[] route = new byte[0];

    /** The tests that use the same connection. */
    record Part(int inlineSize, List<StreamTest> tests) {
    }

    /** Checks the options, and looks up the addresses: with the help of librdmacm, or like any program. */
    void checkOptions() throws IOException {
        boolean resolve = wants(TestOption.RESOLVE);
        String how = format.toLowerCase(Locale.ROOT);
        require(!how.startsWith("gid"), "Invalid format gid: streams have IP addresses");
        require(how.equals("name") || how.equals("ip") || how.equals("ipv6"),
                "Invalid format " + format + ": name, ip or ipv6");
        require(bufferSize >= StreamSettings.MIN_BUFFER_SIZE
                && bufferSize <= StreamSettings.MAX_BUFFER_SIZE, "Invalid buffer size " + bufferSize
                + " (valid range is " + StreamSettings.MIN_BUFFER_SIZE + " to " + StreamSettings.MAX_BUFFER_SIZE + ")");
        requireRange("inline size", inlineSize, StreamSettings.MAX_QUEUE_SIZE);
        require(iterations == null || iterations >= 1, "Invalid number of iterations " + iterations);
        require(count == null || count >= 1, "Invalid number of transfers " + count);
        require(size == null || isAll() || size(size) >= 1, "Invalid size " + size + " (valid range is"
                + " 1 to " + MAX_SIZE + ", or all)");
        requirePort(port, server != null);
        boolean numeric = !how.equals("name");
        if (server == null) {
            local = resolve ? resolved(bind, true) : new InetSocketAddress(bind == null ? null : parse(bind, numeric),
                    port);
        } else {
            local = bind == null ? null : new InetSocketAddress(parse(bind, numeric), 0);
            peer = resolve ? resolved(server, false) : new InetSocketAddress(parse(server, numeric), port);
        }
    }

    private InetSocketAddress resolved(String host, boolean passive) throws IOException {
        AddressInfo found = AddressInfo.resolve(host, Integer.toString(port),
                passive ? AddressInfo.Hints.passive(PortSpace.TCP) : AddressInfo.Hints.active(PortSpace.TCP))
                .getFirst();
        route = found.route();
        return (passive ? found.source() : found.destination())
                .filter(InetSocketAddress.class::isInstance).map(InetSocketAddress.class::cast)
                .orElseThrow(() -> new UnknownHostException(host + " has no IP address"));
    }

    private InetAddress parse(String host, boolean numeric) {
        try {
            return numeric ? InetAddress.ofLiteral(host) : InetAddress.getByName(host);
        } catch (IllegalArgumentException | UnknownHostException e) {
            require(false, "there is no " + (numeric ? "" : "host or ") + "IP address '" + host + "'");
            throw new IllegalStateException(e);
        }
    }

    /** Returns the number, 0 if it is none or too large. */
    private static int size(String text) {
        try {
            int number = Integer.parseInt(text);
            return number <= MAX_SIZE ? number : 0;
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private boolean isAll() {
        return size != null && size.toLowerCase(Locale.ROOT).startsWith(ALL);
    }

    /** Returns what is to be tested, connection after connection. */
    List<Part> parts() {
        if (iterations == null && count == null && (size == null || isAll())) {
            return List.of(new Part(inlineSize, StreamTest.latencies(isAll())),
                    new Part(0, StreamTest.bandwidths(isAll())));
        }
        int bytes = size == null || isAll() ? 1000 : size(size);
        return List.of(new Part(StreamSettings.defaults().inlineSize(), List.of(new StreamTest("custom", bytes,
                count == null ? 1000 : count, iterations == null ? 1 : iterations))));
    }

    /** Returns the length of the longest transfer. */
    int longest() {
        return parts().stream().flatMap(part -> part.tests().stream()).mapToInt(StreamTest::size).max().orElseThrow();
    }

    boolean isServer() {
        return server == null;
    }

    boolean wants(TestOption test) {
        return tests.contains(test);
    }

    /** Returns whether to sleep while there is nothing to do; otherwise this side is always busy. */
    boolean isBlocking() {
        return tests.lastIndexOf(TestOption.BLOCKING) > tests.lastIndexOf(TestOption.NONBLOCKING);
    }

    /** Returns the settings of streams, to be added to. */
    StreamSettings.Builder settings() {
        return StreamSettings.builder().sendBufferSize(bufferSize).receiveBufferSize(bufferSize)
                .inlineSize(parts().getFirst().inlineSize()).route(route).reuseAddress(true)
                .waiting(isBlocking() ? WaitPolicy.defaults() : WaitPolicy.spinAlways());
    }

    /** Starts to listen, if this is the server; otherwise returns null. */
    RdmaStreamServer listen(StreamSettings settings) throws IOException {
        return isServer() ? RdmaStreamServer.listen(local, 1, settings) : null;
    }

    /**
     * Makes a stream: a client connects, and a server accepts. The inline size is for clients: a server has chosen it
     * when it started to listen.
     */
    RdmaStream stream(RdmaStreamServer listener, StreamSettings settings, int inline)
            throws IOException, InterruptedException {
        if (listener != null) {
            return listener.accept(FOREVER);
        }
        RdmaStream stream = RdmaStream.open(settings.toBuilder().inlineSize(inline).build());
        try {
            if (local != null) {
                stream.bind(local);
            }
            stream.startConnect(peer);
            stream.finishConnect(timeout());
            return stream;
        } catch (IOException | InterruptedException e) {
            stream.close();
            throw e;
        }
    }
}
