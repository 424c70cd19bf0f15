// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.testing.CommandLines;
import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The parts of the key-value store that need no RDMA device: its TCP side and command lines. */
class KvTcpTest {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static final KvLayout LAYOUT = new KvLayout(16, 8, 32);
    private static final int MESSAGE = 8 + 32 + KvMessage.OVERHEAD;

    @Test
    void clientsPutAndGet() throws Exception {
        StringWriter err = new StringWriter();
        try (Arena arena = Arena.ofShared(); TcpService service = service(arena, err);
                TcpClient first = client(service); TcpClient second = client(service)) {
            first.put(new byte[] {1}, new byte[] {2, 3});
            assertThat(second.get(new byte[] {1})).containsExactly(2, 3);
            assertThat(second.get(new byte[] {2})).isNull();
            second.put(new byte[] {1}, new byte[0]);
            assertThat(first.get(new byte[] {1})).isEmpty();
            assertThat(first.handled()).isEqualTo(5);
            assertThatThrownBy(() -> first.put(new byte[9], new byte[1])).hasMessageContaining("refused");
            assertThatThrownBy(() -> {
                for (byte i = 0; i < 17; i++) {
                    second.put(new byte[] {i}, new byte[1]);
                }
            }).hasMessageContaining("no slot left");
        }
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void serverEndsInTheMiddle() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, LOOPBACK);
                TcpClient client = new TcpClient((InetSocketAddress) server.getLocalSocketAddress(), MESSAGE)) {
            try (Socket socket = server.accept(); Background<Void> request = Background.run(() ->
                    assertThatThrownBy(() -> client.get(new byte[] {1})).isInstanceOf(IOException.class)
                            .hasMessage("the server has ended the TCP connection"))) {
                socket.getInputStream().readNBytes(10);
                socket.shutdownOutput();
                request.result();
            }
        }
    }

    @Test
    void clientsOfOtherProtocolsAreRefused() throws Exception {
        StringWriter err = new StringWriter();
        try (Arena arena = Arena.ofShared(); TcpService service = service(arena, err)) {
            try (Socket stranger = new Socket(LOOPBACK, service.port())) {
                stranger.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes());
                // The server closes the connection, perhaps with a reset.
                assertThat(end(stranger)).isTrue();
            }
        }
        assertThat(err.toString()).startsWith("kv_server: a client over TCP: a message of ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "kv_server | Missing required option: '-a=ADDR'",
        "kv_server -a 127.0.0.1 --slots 12 | Invalid number of slots 12 (a power of two from 8 to 16777216)",
        "kv_server -a 127.0.0.1 -S 0 | Invalid value size 0 (valid range is 1 to 65535)",
        "kv_server -a 127.0.0.1 --key-size 65536 | Invalid key size 65536 (valid range is 1 to 65535)",
        "kv_load -a 127.0.0.1 -p 0 | a client needs the server's port: -p PORT",
        "kv_load -a 127.0.0.1 -n 0 | Invalid count 0",
        "kv_load -a 127.0.0.1 -t 257 | Invalid number of clients 257 (valid range is 1 to 256)",
        "kv_load -a 127.0.0.1 -k 3 | Invalid number of keys 3: each client needs one of its own",
        "kv_load -a 127.0.0.1 -S 7 | Invalid size 7 (valid range is 8 to 65535)",
        "kv_load -a 127.0.0.1 -r 101 | Invalid percentage 101"})
    void wrongArgumentsEndWithOneLine(String command, String reason) throws Exception {
        CommandLines.assertRefused(command, reason);
    }

    @ParameterizedTest
    @CsvSource({"kv_server", "kv_load"})
    void helpShowsAnExample(String name) throws Exception {
        assertThat(CommandLines.help(name)).contains("For example");
    }

    private static boolean end(Socket socket) {
        try {
            return socket.getInputStream().read() < 0;
        } catch (IOException e) {
            return true;
        }
    }

    private static TcpService service(Arena arena, StringWriter err) throws IOException {
        Console console = new Console(new PrintWriter(new StringWriter()), new PrintWriter(err, true), false);
        return new TcpService(new InetSocketAddress(LOOPBACK, 0), new KvRequests(new KvTable(LAYOUT, arena)),
                console);
    }

    private static TcpClient client(TcpService service) throws IOException, InterruptedException {
        return new TcpClient(new InetSocketAddress(LOOPBACK, service.port()), MESSAGE);
    }
}
