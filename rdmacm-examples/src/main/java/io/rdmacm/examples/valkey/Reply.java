// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** An answer of the server. {@code toString} shows it as valkey-cli does. */
sealed interface Reply {
    /** A short text, such as OK. */
    record Status(String text) implements Reply {
        @Override
        public String toString() {
            return text;
        }
    }

    /** The server could not do what was asked. */
    record Failure(String text) implements Reply {
        @Override
        public String toString() {
            return "(error) " + text;
        }
    }

    /** A number. */
    record Number(long value) implements Reply {
        @Override
        public String toString() {
            return "(integer) " + value;
        }
    }

    /** Any bytes. */
    @SuppressWarnings("ArrayRecordComponent")
    record Bulk(byte[] bytes) implements Reply {
        /** Shows printable ASCII as it is, everything else escaped. */
        @Override
        public String toString() {
            StringBuilder quoted = new StringBuilder("\"");
            for (byte each : bytes) {
                switch (each) {
                    case '\n' -> quoted.append("\\n");
                    case '\r' -> quoted.append("\\r");
                    case '\t' -> quoted.append("\\t");
                    case '"', '\\' -> quoted.append('\\').append((char) each);
                    default -> {
                        if (each >= ' ' && each < 0x7f) {
                            quoted.append((char) each);
                        } else {
                            quoted.append(String.format("\\x%02x", each));
                        }
                    }
                }
            }
            return quoted.append('"').toString();
        }

        /** Returns the bytes as UTF-8 text. */
        String text() {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    /** There is no value. */
    record Nil() implements Reply {
        @Override
        public String toString() {
            return "(nil)";
        }
    }

    /** Several answers. */
    record Array(List<Reply> elements) implements Reply {
        @Override
        public String toString() {
            if (elements.isEmpty()) {
                return "(empty array)";
            }
            return IntStream.range(0, elements.size())
                    .mapToObj(i -> i + 1 + ") " + elements.get(i).toString().replace("\n", "\n   "))
                    .collect(Collectors.joining("\n"));
        }
    }
}
