// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.doctor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What was found, in the order in which it was found, as text and as JSON. */
final class Findings {
    private final List<Finding> all = new ArrayList<>();

    /** How bad something is. */
    enum Level {
        /** As it should be. */
        OK("ok"),
        /** RDMA works, but less well than it could. */
        WARNING("warning"),
        /** RDMA does not work. */
        WRONG("WRONG");

        private final String word;

        Level(String word) {
            this.word = word;
        }
    }

    /**
     * One thing that was looked at.
     *
     * @param subject what it belongs to: libraries, permissions, a device
     * @param text what was found
     * @param advice what to do; empty if there is nothing to do
     * @param values the figures in the text
     */
    record Finding(String subject, Level level, String text, String advice, Map<String, Object> values) {
    }

    void ok(String subject, String text) {
        ok(subject, text, Map.of());
    }

    void ok(String subject, String text, Map<String, Object> values) {
        all.add(new Finding(subject, Level.OK, text, "", values));
    }

    void warning(String subject, String text, String advice) {
        warning(subject, text, advice, Map.of());
    }

    void warning(String subject, String text, String advice, Map<String, Object> values) {
        all.add(new Finding(subject, Level.WARNING, text, advice, values));
    }

    void problem(String subject, String text, String advice) {
        all.add(new Finding(subject, Level.WRONG, text, advice, Map.of()));
    }

    List<Finding> all() {
        return all;
    }

    /** Returns how many things are wrong, without the warnings. */
    long problems() {
        return all.stream().filter(finding -> finding.level == Level.WRONG).count();
    }

    /** Returns the lines of the report: a heading for each subject, below it what was found. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        String subject = "";
        for (Finding finding : all) {
            if (!finding.subject.equals(subject)) {
                subject = finding.subject;
                lines.add(subject);
            }
            lines.add(String.format("  %-8s %s", finding.level.word, finding.text));
            if (!finding.advice.isEmpty()) {
                lines.add("           -> " + finding.advice);
            }
        }
        return lines;
    }

    /** Returns all as one JSON object. */
    String toJson() {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("healthy", problems() == 0);
        object.put("findings", all.stream().map(Findings::object).toList());
        return json(object);
    }

    private static Map<String, Object> object(Finding finding) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("subject", finding.subject);
        object.put("level", finding.level.name().toLowerCase(Locale.ROOT));
        object.put("text", finding.text);
        if (!finding.advice.isEmpty()) {
            object.put("advice", finding.advice);
        }
        object.putAll(new TreeMap<>(finding.values));
        return object;
    }

    private static String json(Object value) {
        return switch (value) {
            case Map<?, ?> map -> map.entrySet().stream()
                    .map(entry -> json(entry.getKey()) + ":" + json(entry.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
            case List<?> list -> list.stream().map(Findings::json).collect(Collectors.joining(",", "[", "]"));
            case Number number -> number.toString();
            case Boolean truth -> truth.toString();
            default -> value.toString().chars().mapToObj(Findings::character)
                    .collect(Collectors.joining("", "\"", "\""));
        };
    }

    private static String character(int character) {
        return character < ' ' ? String.format("\\u%04x", character)
                : character == '"' || character == '\\' ? "\\" + (char) character : Character.toString(character);
    }
}
