// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A few commands of Valkey on a map, for a server of the tests. Thread-safe. */
final class Commands {
    private final Map<String, byte[]> values = new ConcurrentHashMap<>();

    /** Answers the commands of a client until it says QUIT or its connection ends, which throws. */
    void serve(ByteStream stream) throws IOException, InterruptedException {
        RespReader reader = new RespReader(stream);
        boolean open = true;
        while (open) {
            List<String> words = ((Reply.Array) reader.read()).elements().stream()
                    .map(word -> new String(((Reply.Bulk) word).bytes(), StandardCharsets.ISO_8859_1)).toList();
            stream.write(ByteBuffer.wrap(encode(answer(words))));
            open = !words.getFirst().equals("QUIT");
        }
    }

    private Reply answer(List<String> words) {
        return switch (words.getFirst().toUpperCase(Locale.ROOT)) {
            case "PING" -> new Reply.Status("PONG");
            case "QUIT" -> new Reply.Status("OK");
            case "ECHO" -> new Reply.Bulk(bytes(words.get(1)));
            case "GET" -> value(words.get(1));
            case "MGET" -> new Reply.Array(words.stream().skip(1).map(this::value).toList());
            case "SET" -> {
                values.put(words.get(1), bytes(words.get(2)));
                yield new Reply.Status("OK");
            }
            case "DEL" -> new Reply.Number(values.remove(words.get(1)) == null ? 0 : 1);
            default -> new Reply.Failure("ERR unknown command '" + words.getFirst() + "'");
        };
    }

    private Reply value(String key) {
        byte[] value = values.get(key);
        return value == null ? new Reply.Nil() : new Reply.Bulk(value);
    }

    /** Returns an answer as it goes over the wire. */
    static byte[] encode(Reply reply) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        switch (reply) {
            case Reply.Status status -> line(out, "+" + status.text());
            case Reply.Failure failure -> line(out, "-" + failure.text());
            case Reply.Number number -> line(out, ":" + number.value());
            case Reply.Nil nil -> line(out, "$-1");
            case Reply.Bulk bulk -> {
                line(out, "$" + bulk.bytes().length);
                out.writeBytes(bulk.bytes());
                line(out, "");
            }
            case Reply.Array array -> {
                line(out, "*" + array.elements().size());
                array.elements().forEach(each -> out.writeBytes(encode(each)));
            }
        }
        return out.toByteArray();
    }

    private static void line(ByteArrayOutputStream out, String text) {
        out.writeBytes(bytes(text));
        out.writeBytes(RespWriter.END);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
