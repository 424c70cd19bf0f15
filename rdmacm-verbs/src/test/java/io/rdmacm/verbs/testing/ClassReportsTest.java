// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Reports are there when their class has ended, whatever happens to the JVM. */
class ClassReportsTest {
    private static final int CRASH = 77;

    @TempDir
    private Path folder;

    /** Runs classes of tests, in their order. */
    static final class Run {
        private Run() {
        }

        public static void main(String[] classes) {
            LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request()
                    .selectors(Arrays.stream(classes).map(DiscoverySelectors::selectClass).toList()).build());
        }
    }

    /** A test of each kind. */
    static class Mixed {
        @ParameterizedTest
        @ValueSource(strings = {"<one>", "two"})
        void passes(String name) {
            assertThat(name).isNotEmpty();
        }

        @Test
        void fails() {
            throw new IllegalStateException("a \"reason\" & ]]>");
        }

        @Test
        void aborts() {
            Assumptions.abort("no device");
        }
    }

    /** A test that ends the JVM. */
    static class Crashing {
        @Test
        void crashes() {
            Runtime.getRuntime().halt(CRASH);
        }
    }

    /** A test that does not end. */
    static class Hanging {
        @Test
        void hangs() throws InterruptedException {
            new CountDownLatch(1).await();
        }
    }

    /** A class that cannot begin. */
    static class Broken {
        Broken() {
            throw new IllegalStateException("broken");
        }

        @Test
        void neverRuns() {
        }
    }

    @Test
    void aCrashLosesOnlyTheReportOfItsClass() throws Exception {
        ForkedJvm.Result result = run("600", Mixed.class, Broken.class, Crashing.class);

        assertThat(result.status()).describedAs(result.errors()).isEqualTo(CRASH);
        assertThat(report()).containsOnlyOnce("name=\"aborts()\"").containsPattern("aborts.*<skipped>.*no device")
                .containsPattern("fails.*<failure message=\"a &quot;reason&quot; &amp; ]]>\" type=\"java.lang.Illegal")
                .containsPattern("passes\\(String\\)\\[1]\" time=\"[^\"]*\"></testcase>").contains("[2]\"")
                .containsPattern("neverRuns.*broken").doesNotContain("crashes");
    }

    @Test
    void aTestThatDoesNotEndIsReportedWithAllStacks() throws Exception {
        ForkedJvm.Result result = run("2", Hanging.class);

        assertThat(result.status()).isEqualTo(3);
        assertThat(result.errors()).contains("hangs() does not end", "CountDownLatch.await");
        assertThat(report()).containsPattern("hangs\\(\\).*<failure message=\"does not end\"");
    }

    private ForkedJvm.Result run(String limit, Class<?>... classes) throws Exception {
        String[] names = new String[classes.length];
        for (int i = 0; i < names.length; i++) {
            names[i] = classes[i].getName();
        }
        return ForkedJvm.of(Run.class).property("io.rdmacm.reports", folder.toString())
                .property("io.rdmacm.testLimit", limit).run(names);
    }

    /** All are nested in this class, and have one report. */
    private String report() throws Exception {
        return Files.readString(folder.resolve("TEST-" + ClassReportsTest.class.getName() + ".xml"));
    }
}
