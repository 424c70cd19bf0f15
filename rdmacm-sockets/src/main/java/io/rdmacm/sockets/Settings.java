// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What the argument of the agent, or the system property, says.
 *
 * @param rules the rules, in the order in which they are asked
 * @param beside how long a connect waits for RDMA before it tries TCP beside it
 * @param memory how long TCP is taken at once where RDMA has failed
 * @param plain whether {@code java.net.Socket} and {@code ServerSocket} are served
 */
record Settings(List<Rule> rules, Duration beside, Duration memory, boolean plain) {
    /** The system property for programs without the agent. */
    static final String PROPERTY = "io.rdmacm.sockets";
    static final Settings DEFAULTS = new Settings(List.of(), Duration.ofMillis(250), Duration.ofSeconds(10), true);

    /** Parses the name of a file of rules, or {@code key:value,...}. */
    static Settings parse(@Nullable String text) throws IOException {
        Settings settings = DEFAULTS;
        if (text == null || text.isBlank()) {
            return settings;
        }
        if (!text.matches("[a-z]+:.*")) {
            return settings.with("rules", text);
        }
        for (String part : text.split(",")) {
            String[] pair = part.split(":", 2);
            if (pair.length == 1) {
                throw new IllegalArgumentException("\"" + part + "\" is not key:value");
            }
            settings = settings.with(pair[0].strip(), pair[1].strip());
        }
        return settings;
    }

    private Settings with(String key, String value) throws IOException {
        return switch (key) {
            case "rules" -> new Settings(read(Path.of(value)), beside, memory, plain);
            case "beside" -> new Settings(rules, Duration.ofMillis(number(key, value)), memory, plain);
            case "memory" -> new Settings(rules, beside, Duration.ofSeconds(number(key, value)), plain);
            case "plain" -> new Settings(rules, beside, memory, isOn(key, value));
            default -> throw new IllegalArgumentException("there is no \"" + key
                    + "\", only rules, beside, memory and plain");
        };
    }

    private static List<Rule> read(Path file) throws IOException {
        try {
            return Rule.parse(Files.readAllLines(file));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ", " + e.getMessage(), e);
        }
    }

    private static long number(String key, String value) {
        if (!value.matches("\\d{1,9}")) {
            throw new IllegalArgumentException(key + " is \"" + value + "\", not a number");
        }
        return Long.parseLong(value);
    }

    private static boolean isOn(String key, String value) {
        if (!value.equals("on") && !value.equals("off")) {
            throw new IllegalArgumentException(key + " is \"" + value + "\", not on or off");
        }
        return value.equals("on");
    }
}
