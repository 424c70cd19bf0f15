// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

import io.rdmacm.examples.testing.CommandLines;
import io.rdmacm.examples.testing.Program;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The parts of the Valkey client that need no RDMA device: the format of commands and answers, TCP, command lines. */
class ValkeyTest {
    @Test
    void answersOfEveryType() throws Exception {
        Reply reply = new Reply.Array(List.of(new Reply.Status("OK"), new Reply.Number(-7), new Reply.Nil(),
                new Reply.Array(List.of(new Reply.Bulk(bytes("a\r\nb\"\u0001")), new Reply.Failure("ERR no")))));
        for (int part : new int[] {1, 3, 1000}) {
            Reply read = new RespReader(new Pieces(Commands.encode(reply), part)).read();
            assertThat(read).hasToString("""
                    1) OK
                    2) (integer) -7
                    3) (nil)
                    4) 1) "a\\r\\nb\\"\\x01"
                       2) (error) ERR no""");
        }
        assertThat(answer("*0\r\n")).hasToString("(empty array)");
        assertThat(answer("*-1\r\n")).hasToString("(nil)");
        assertThat(answer("$0\r\n\r\n")).hasToString("\"\"");
        assertThat(answer("+gr\u00fc\u00df\r\n")).hasToString("gr\u00fc\u00df");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "!5 | unknown type 0x21", "$-2 | length -2", "$536870913 | length 536870913", "*x | 'x' instead of a number",
        "*2000000 | length 2000000", "$1;abc | longer than it says", "$3;a | end"})
    void brokenAnswers(String text, String reason) {
        assertThatThrownBy(() -> answer(text.replace(";", "\r\n") + "\r\n")).isInstanceOf(IOException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void endlessAnswers() {
        assertThatThrownBy(() -> answer("*1\r\n".repeat(1000))).hasMessageContaining("nested");
        assertThatThrownBy(() -> answer("+" + "x".repeat(70_000))).hasMessageContaining("a line of more than");
    }

    @Test
    void commandsLongerThanTheBuffer() throws Exception {
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        RespWriter writer = new RespWriter(new Pieces(new byte[0], 1) {
            @Override
            public void write(ByteBuffer bytes) {
                byte[] part = new byte[bytes.remaining()];
                bytes.get(part);
                sent.writeBytes(part);
            }
        });
        String value = "0123456789".repeat(20_000);
        writer.command(bytes("SET"), bytes("k"), bytes(value));
        writer.flush();
        assertThat(sent.toString(StandardCharsets.US_ASCII))
                .isEqualTo("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$200000\r\n" + value + "\r\n");
    }

    @Test
    void commandsOverTcp() throws Exception {
        Commands commands = new Commands();
        try (TcpTestServer server = new TcpTestServer(commands::serve);
                ValkeyClient client = new ValkeyClient(TcpStream.connect(server.address()))) {
            assertThat(client.call("GET", "k")).isInstanceOf(Reply.Nil.class);
            assertThat(client.call("SET", "k", "v")).hasToString("OK");
            assertThat(client.call("MGET", "k", "none")).hasToString("1) \"v\"\n2) (nil)");
            assertThat(client.call("QUIT")).hasToString("OK");
            assertThatThrownBy(() -> client.call("PING")).isInstanceOf(IOException.class);
        }
    }

    @Test
    void theProgramsOverTcp() throws Exception {
        Commands commands = new Commands();
        try (TcpTestServer server = new TcpTestServer(commands::serve)) {
            assertThat(cli(server, "SET", "k", "-v")).isEqualTo(new Program.Result(0, "OK\n", ""));
            assertThat(cli(server, "DEL", "k")).isEqualTo(new Program.Result(0, "(integer) 1\n", ""));
            assertThat(cli(server, "NONE")).isEqualTo(new Program.Result(1, "(error) ERR unknown command 'NONE'\n",
                    ""));
            Program.Result load = run("valkey_load", "-a", "127.0.0.1", "-p", "0", "--tcp-port",
                    "" + server.address().getPort(), "-n", "500", "-k", "20", "-P", "7", "-r", "50");
            assertThat(load).returns(0, Program.Result::status).returns("", Program.Result::err);
            assertThat(load.outLines()).hasSize(6).first().isEqualTo("500 operations, 50 % of them gets, by 4 clients"
                    + " with 7 requests at once on 20 keys with values of 128 bytes, through no RDMA device");
            assertThat(load.outLines().get(4)).matches("TCP +\\d+( +\\d+\\.\\d){6}");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "valkey_cli PING | Missing required option: '-a=ADDR'",
        "valkey_cli -a 127.0.0.1 -p 0 PING | a client needs the server's port: -p PORT",
        "valkey_load -a 127.0.0.1 -p 0 --tcp-port 0 | neither RDMA nor TCP: -p PORT or --tcp-port PORT",
        "valkey_load -a 127.0.0.1 -P 513 | Invalid depth 513 (valid range is 1 to 512)",
        "valkey_load -a 127.0.0.1 --spin -1 | Invalid time -1",
        "valkey_load -a 127.0.0.1 -S 7 | Invalid size 7 (valid range is 8 to 16777216)"})
    void wrongArgumentsEndWithOneLine(String command, String reason) throws Exception {
        CommandLines.assertRefused(command, reason);
    }

    @ParameterizedTest
    @ValueSource(strings = {"valkey_cli", "valkey_load"})
    void helpShowsAnExample(String name) throws Exception {
        assertThat(CommandLines.help(name)).contains("For example");
    }

    private static Program.Result cli(TcpTestServer server, String... words) throws Exception {
        return run(Stream.concat(Stream.of("valkey_cli", "-a", "127.0.0.1", "--tcp",
                "-p", "" + server.address().getPort(), "--"), Stream.of(words))
                .toArray(String[]::new));
    }

    private static Program.Result run(String... words) throws InterruptedException {
        try (Program program = Program.inThread(words)) {
            return program.result();
        }
    }

    private static Reply answer(String text) throws IOException, InterruptedException {
        return new RespReader(new Pieces(bytes(text), 1000)).read();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A stream whose bytes arrive in pieces. */
    private static class Pieces implements ByteStream {
        private final ByteBuffer bytes;
        private final int part;

        Pieces(byte[] bytes, int part) {
            this.bytes = ByteBuffer.wrap(bytes);
            this.part = part;
        }

        @Override
        public void write(ByteBuffer sent) {
            throw new AssertionError();
        }

        @Override
        public void read(ByteBuffer target) throws IOException {
            if (!bytes.hasRemaining()) {
                throw new EOFException("end");
            }
            int length = Math.min(Math.min(part, bytes.remaining()), target.remaining());
            target.put(bytes.slice(bytes.position(), length));
            bytes.position(bytes.position() + length);
        }

        @Override
        public void close() {
            // There is nothing to close.
        }
    }
}
