// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsTest {
    private static final Result SOME = new Result("send_latency", Side.JAVA,
            Result.params("size", 64, "events", true, "qp", "RC"), "p50", "us", 32.123456789);

    @TempDir
    private Path folder;

    @Test
    void aFileHasTheThreeParts() throws IOException {
        Path file = folder.resolve("report/results.json");
        new Results(Map.of("jdk", "25 \"quoted\" <html>"), List.of(SOME)).write(file);

        JsonObject json = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
        assertThat(json.keySet()).containsExactly("environment", "results", "summary");
        assertThat(json.getAsJsonObject("environment").get("jdk").getAsString()).isEqualTo("25 \"quoted\" <html>");
        JsonObject result = json.getAsJsonArray("results").get(0).getAsJsonObject();
        assertThat(result).hasToString("{\"name\":\"send_latency\",\"side\":\"java\","
                + "\"params\":{\"size\":64,\"events\":true,\"qp\":\"RC\"},"
                + "\"metric\":\"p50\",\"unit\":\"us\",\"value\":32.1235}");
        assertThat(json.getAsJsonObject("summary").keySet()).containsExactly(
                "overhead_batch1", "overhead_batch16", "overhead_worst_classic", "overhead_geomean_classic",
                "overhead_worst_extended_batch1", "overhead_worst_extended_batch16", "overhead_mlx5_batch1",
                "overhead_mlx5_batch16", "overhead_mlx5_extended_batch1", "overhead_mlx5_extended_batch16",
                "direct_over_mlx5", "first_post_seconds", "region_close_microseconds", "send_latency",
                "write_latency", "read_latency", "bandwidth_64k", "bandwidth_1m",
                "events_latency", "await_latency", "connect_rate", "connection_latency", "connection_latency_events",
                "connection_bandwidth_64k", "connection_bandwidth_64k_copying", "connection_read_pipeline",
                "connection_large_messages", "connection_over_low", "connection_rate", "connection_rate_own",
                "stream_latency", "stream_bandwidth_64k", "stream_bandwidth_1m", "nio_stream_latency", "netty_latency");
        assertThat(json.getAsJsonObject("summary").get("send_latency").isJsonNull())
                .as("no C side, no ratio").isTrue();
    }

    @Test
    void whatIsWrittenIsRead() throws IOException {
        Path file = folder.resolve("results.json");
        Results results = new Results(Map.of("kernel", "6.1"), List.of(SOME));
        results.write(file);

        assertThat(Results.read(file)).isEqualTo(results);
    }

    @Test
    void anotherFileIsRefused() throws IOException {
        for (String text : List.of("", "[]", "{}", "{\"environment\":{},\"results\":[{}]}", "no json {")) {
            Path file = Files.writeString(folder.resolve("other.json"), text);
            assertThatThrownBy(() -> Results.read(file)).as(text)
                    .isInstanceOf(IOException.class).hasMessageContaining("other.json");
        }
    }

    @Test
    void whatIsNoFigureIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Result("x", Side.C, Map.of(), "p50", "us", Double.NaN));
    }
}
