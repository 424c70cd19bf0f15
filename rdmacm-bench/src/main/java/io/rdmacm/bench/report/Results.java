// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collector;
import java.util.stream.Collectors;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.ToNumberPolicy;

/**
 * The results of a run, and where they were measured.
 *
 * @param environment the machine and its software, in the order in which they are displayed
 * @param results the figures
 */
public record Results(Map<String, String> environment, List<Result> results) {
    private static final Gson GSON = new GsonBuilder().setPrettyPrinting().serializeNulls().disableHtmlEscaping()
            .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE).create();

    /** Copies the parameters. */
    public Results {
        environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
        results = List.copyOf(results);
    }

    /** What a file holds. The summary is for readers: it is derived from the results. */
    private record Content(Map<String, String> environment, List<Result> results, Map<String, Double> summary) {
    }

    /** Writes a file, and creates its folder. */
    public void write(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, GSON.toJson(new Content(environment, results, Summary.of(this))) + "\n");
    }

    /**
     * {@return what a file holds}
     *
     * @throws IOException if reading fails, or the file holds something else
     */
    public static Results read(Path file) throws IOException {
        try (Reader in = Files.newBufferedReader(file)) {
            return Objects.requireNonNull(GSON.fromJson(in, Results.class), "it is empty");
        } catch (RuntimeException e) {
            throw new IOException(file + " holds no results: " + e.getMessage(), e);
        }
    }

    /**
     * {@return these and those of another part of the run; where the parts differ, as in their dates, both are named}
     *
     * @param other the other part
     */
    public Results with(Results other) {
        Map<String, String> places = new LinkedHashMap<>(environment);
        other.environment.forEach((name, place) -> places.merge(name, place, Results::both));
        List<Result> all = new ArrayList<>(results);
        all.addAll(other.results);
        return new Results(places, all);
    }

    private static String both(String first, String second) {
        return List.of(first.split("; ")).contains(second) ? first : first + "; " + second;
    }

    /**
     * Returns the median of a figure over its repetitions.
     *
     * @param name the name of the measurement
     * @param metric the metric
     * @param side the side that was measured
     * @param params the parameters that it must have; all others may have any value
     * @return the median; null if it was not measured
     */
    public Double median(String name, String metric, Side side, Map<String, ?> params) {
        return results.stream().filter(result -> result.name().equals(name) && result.metric().equals(metric)
                && result.side() == side && result.has(params)).collect(median());
    }

    /** {@return collects the median} */
    public static Collector<Result, ?, Double> median() {
        return Collectors.collectingAndThen(Collectors.mapping(Result::value, Collectors.toList()), Results::medianOf);
    }

    /** {@return the median of values; null of none} */
    public static Double medianOf(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        if (sorted.isEmpty()) {
            return null;
        }
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
}
