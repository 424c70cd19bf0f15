// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;

import org.junit.jupiter.api.Test;

/** The load, on a map instead of a store, and its progress bar. */
class LoadTest {
    private static final LoadPlan PLAN = new LoadPlan(1001, 3, 10, 20, 50, 8);

    private final Map<String, byte[]> map = new ConcurrentHashMap<>();

    @Test
    void batchesAreCheckedAndCounted() throws Exception {
        LoadResult result = LoadRun.run(MapClient::new, PLAN, new Progress(null, 1));
        assertThat(result.gets() + result.puts()).isEqualTo(1001);
        assertThat(result.gets()).isBetween(400L, 600L);
        assertThat(result.operationsPerSecond()).isPositive();
        assertThat(map).hasSize(10);
    }

    @Test
    void lostPutsAreNoticed() {
        assertThatThrownBy(() -> LoadRun.run(() -> new MapClient() {
            private int puts;

            @Override
            public void startPut(byte[] key, byte[] value) {
                super.startPut(key, puts++ >= 20 ? map.get(new String(key)) : value);
            }
        }, PLAN, new Progress(null, 1))).hasMessageMatching("key \\d+ has the value of put \\d+ after that of"
                + " put \\d+");
    }

    @Test
    void aFailureEndsAllClients() {
        assertThatThrownBy(() -> LoadRun.run(() -> new MapClient() {
            private int gets;

            @Override
            public byte[] finishGet() {
                if (gets++ == 10) {
                    throw new IllegalStateException("it broke");
                }
                return super.finishGet();
            }
        }, PLAN, new Progress(null, 1))).hasMessageContaining("it broke");
    }

    @Test
    void progressIsRedrawnInPlace() {
        StringWriter terminal = new StringWriter();
        Progress progress = new Progress(new PrintWriter(terminal, true), 4);
        progress.begin("counting");
        progress.step();
        progress.end();
        assertThat(terminal.toString()).startsWith("\rcounting         [##########" + " ".repeat(30) + "]  25 %\r")
                .endsWith("\r").doesNotContain("\n");
        Progress silent = new Progress(null, 1);
        silent.step();
        silent.end();
    }

    @Test
    void wrongValuesAreDetected() throws Exception {
        byte[] value = LoadValue.make(3, 4, 20);
        assertThat(LoadValue.check(3, value, 20)).isEqualTo(4);
        assertThatThrownBy(() -> LoadValue.check(2, value, 20)).hasMessageContaining("does not belong to key 2");
        assertThatThrownBy(() -> LoadValue.check(3, value, 21)).hasMessageContaining("does not belong to key 3");
        assertThatThrownBy(() -> LoadValue.check(3, null, 20)).hasMessageContaining("missing from the store");
        value[19]++;
        assertThatThrownBy(() -> LoadValue.check(3, value, 20)).hasMessageContaining("put 4 at byte 19");
    }

    /** Handles each request at once, and keeps the answers of gets. */
    private class MapClient implements LoadClient {
        private final Queue<byte[]> answers = new ArrayDeque<>();

        @Override
        public void startGet(byte[] key) {
            answers.add(map.get(new String(key)));
        }

        @Override
        public void startPut(byte[] key, byte[] value) {
            map.put(new String(key), value);
        }

        @Override
        public void flush() {
            // There is nobody to send to.
        }

        @Override
        public byte[] finishGet() {
            return answers.remove();
        }

        @Override
        public void finishPut() {
            // The value is in the map.
        }

        @Override
        public void close() {
            assertThat(answers.size()).isLessThanOrEqualTo(PLAN.depth());
        }
    }
}
