// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * One figure. A measurement that was repeated gives one for each {@value #ROUND}, which is one of its parameters.
 *
 * @param name what was measured, as {@code send_latency}
 * @param side who was measured
 * @param params how: text, whole numbers and truth values, in the order in which they are to be read
 * @param metric which figure of it, as {@code median}
 * @param unit its unit, as {@code us}
 * @param value the figure
 */
public record Result(String name, Side side, Map<String, Object> params, String metric, String unit, double value) {
    /** The parameter that counts repetitions. */
    public static final String ROUND = "round";

    /** Checks the parameters, and copies them. */
    public Result {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(side, "side");
        Objects.requireNonNull(metric, "metric");
        Objects.requireNonNull(unit, "unit");
        if (!Double.isFinite(value)) {
            throw new IllegalArgumentException(name + " " + side.id() + " " + params + " " + metric + ": " + value);
        }
        Map<String, Object> copy = new LinkedHashMap<>();
        params.forEach((key, parameter) -> copy.put(key, plain(key, parameter)));
        params = Collections.unmodifiableMap(copy);
    }

    /** Whole numbers are equal whatever type they had. */
    private static Object plain(String key, Object parameter) {
        return switch (parameter) {
            case String text -> text;
            case Boolean truth -> truth;
            case Long number -> number;
            case Integer number -> number.longValue();
            default -> throw new IllegalArgumentException("parameter " + key + " is a " + parameter.getClass());
        };
    }

    /** {@return the parameters without the number of the repetition} */
    public Map<String, Object> configuration() {
        Map<String, Object> all = new LinkedHashMap<>(params);
        all.remove(ROUND);
        return all;
    }

    /**
     * {@return whether the parameters include all of these}
     *
     * @param wanted the parameters asked for
     */
    public boolean has(Map<String, ?> wanted) {
        return wanted.entrySet().stream().allMatch(one ->
                one.getValue() != null && plain(one.getKey(), one.getValue()).equals(params.get(one.getKey())));
    }
}
