// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * One figure. A repeated measurement has one for each {@value #ROUND}, which is one of the parameters.
 *
 * @param name the name of the measurement, such as {@code send_latency}
 * @param side the side that was measured
 * @param params the parameters: strings, integers and booleans, in the order in which they are displayed
 * @param metric the metric, such as {@code p50}
 * @param unit the unit, such as {@code us}
 * @param value the figure, which is rounded to as many digits as the file has
 */
public record Result(String name, Side side, Map<String, Object> params, String metric, String unit, double value) {
    /** The parameter with the number of the repetition. */
    public static final String ROUND = "round";

    private static final MathContext DIGITS = new MathContext(6);

    /** Checks and copies the parameters. */
    public Result {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(side, "side");
        Objects.requireNonNull(metric, "metric");
        Objects.requireNonNull(unit, "unit");
        value = new BigDecimal(value).round(DIGITS).doubleValue();
        Map<String, Object> copy = new LinkedHashMap<>();
        params.forEach((key, parameter) -> copy.put(key, plain(parameter)));
        params = Collections.unmodifiableMap(copy);
    }

    /** {@return parameters in this order: name, value, name, value ...} */
    public static Map<String, Object> params(Object... namesAndValues) {
        Map<String, Object> params = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            params.put((String) namesAndValues[i], plain(namesAndValues[i + 1]));
        }
        return params;
    }

    /** Converts integers to long, so that equal numbers are equal whatever type they had, and constants to words. */
    private static Object plain(Object parameter) {
        return switch (parameter) {
            case Integer number -> number.longValue();
            case Enum<?> constant -> word(constant);
            default -> parameter;
        };
    }

    /** {@return the constant as it stands in results} */
    public static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
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
     * @param wanted the parameters to look for
     */
    public boolean has(Map<String, ?> wanted) {
        return wanted.entrySet().stream().allMatch(one -> plain(one.getValue()).equals(params.get(one.getKey())));
    }
}
