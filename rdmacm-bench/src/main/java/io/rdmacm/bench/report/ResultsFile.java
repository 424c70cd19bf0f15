// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;

/** {@code results.json}: {@code environment}, {@code results} and {@code summary}. */
public final class ResultsFile {
    /** The number of significant digits. */
    private static final MathContext DIGITS = new MathContext(6);
    private static final Gson GSON =
            new GsonBuilder().setPrettyPrinting().serializeNulls().disableHtmlEscaping().create();

    private ResultsFile() {
    }

    /**
     * Writes a file, and creates its folder.
     *
     * @param file the path of the file
     * @param results the results; the summary is derived from them
     * @throws IOException if writing fails
     */
    public static void write(Path file, Results results) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        try (Writer out = Files.newBufferedWriter(file)) {
            out.write(GSON.toJson(toJson(results)));
            out.write("\n");
        }
    }

    /**
     * Reads a file. The summary is not read, as it is derived from the results.
     *
     * @param file the path of the file
     * @return the results
     * @throws IOException if reading fails, or the file holds something else
     */
    public static Results read(Path file) throws IOException {
        try (Reader in = Files.newBufferedReader(file)) {
            return fromJson(JsonParser.parseReader(in).getAsJsonObject());
        } catch (JsonParseException | IllegalArgumentException | IllegalStateException | NullPointerException
                | UnsupportedOperationException e) {
            throw new IOException(file + " holds no results: " + e.getMessage(), e);
        }
    }

    private static JsonObject toJson(Results results) {
        JsonObject environment = new JsonObject();
        results.environment().forEach(environment::addProperty);
        JsonArray list = new JsonArray();
        results.results().forEach(result -> list.add(toJson(result)));
        JsonObject summary = new JsonObject();
        Summary.of(results).forEach((name, ratio) -> summary.add(name, number(ratio)));

        JsonObject all = new JsonObject();
        all.add("environment", environment);
        all.add("results", list);
        all.add("summary", summary);
        return all;
    }

    private static JsonObject toJson(Result result) {
        JsonObject json = new JsonObject();
        json.addProperty("name", result.name());
        json.addProperty("side", result.side().id());
        json.add("params", GSON.toJsonTree(result.params()));
        json.addProperty("metric", result.metric());
        json.addProperty("unit", result.unit());
        json.add("value", number(result.value()));
        return json;
    }

    private static JsonElement number(Double value) {
        return value == null ? JsonNull.INSTANCE : new JsonPrimitive(new BigDecimal(value).round(DIGITS).doubleValue());
    }

    private static Results fromJson(JsonObject json) {
        Map<String, String> environment = new LinkedHashMap<>();
        json.getAsJsonObject("environment").asMap().forEach((key, text) -> environment.put(key, text.getAsString()));
        List<Result> results = new ArrayList<>();
        for (JsonElement element : json.getAsJsonArray("results")) {
            JsonObject one = element.getAsJsonObject();
            Map<String, Object> params = new LinkedHashMap<>();
            one.getAsJsonObject("params").asMap().forEach((key, value) -> params.put(key, parameter(value)));
            results.add(new Result(one.get("name").getAsString(), Side.of(one.get("side").getAsString()), params,
                    one.get("metric").getAsString(), one.get("unit").getAsString(), one.get("value").getAsDouble()));
        }
        return new Results(environment, results);
    }

    private static Object parameter(JsonElement value) {
        JsonPrimitive primitive = value.getAsJsonPrimitive();
        if (primitive.isBoolean()) {
            return primitive.getAsBoolean();
        }
        return primitive.isNumber() ? (Object) primitive.getAsLong() : primitive.getAsString();
    }
}
