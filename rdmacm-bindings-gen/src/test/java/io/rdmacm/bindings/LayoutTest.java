// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.rdmacm.bindings.testing.CCompiler;
import io.rdmacm.bindings.testing.Facts;
import io.rdmacm.bindings.testing.NewerFacts;
import io.rdmacm.bindings.testing.Processes;
import io.rdmacm.bindings.testing.RdmaCore;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every size, alignment, offset and constant is that of the C compiler. */
class LayoutTest {
    /** For the machine that runs the test. */
    @Nested
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    class Native {
        private CCompiler compiler;
        private List<Facts.Fact> facts;

        @BeforeAll
        void prepare(@TempDir Path directory) throws IOException, InterruptedException {
            compiler = new CCompiler("gcc", List.of(), directory);
            assumePossible(compiler);
            facts = Facts.all();
        }

        @Test
        void everyFactHolds() throws IOException, InterruptedException {
            assertThat(compiler.compareByRunning(comparable(facts))).isEmpty();
        }

        @Test
        void theFactsAreComplete() {
            assertComplete(facts);
        }

        @ParameterizedTest
        @EnumSource
        void aWrongFactIsFound(Facts.Kind kind) throws IOException, InterruptedException {
            Facts.Fact wrong = falsify(facts, kind);

            assertThat(compiler.compareByRunning(with(comparable(facts), wrong))).containsExactly(
                    wrong.claim() + ": " + wrong.value() + " in Java, " + (wrong.value() - 1) + " in C");
        }
    }

    /** For aarch64: the programs of a cross compiler cannot run here, so it checks assertions. */
    @Nested
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    class Aarch64 {
        private CCompiler compiler;
        private List<Facts.Fact> facts;

        @BeforeAll
        void prepare(@TempDir Path directory) throws IOException, InterruptedException {
            // The headers of rdma-core are the same for all architectures; those of the C library come before them.
            compiler = new CCompiler("aarch64-linux-gnu-gcc", List.of("-idirafter", "/usr/include"), directory);
            assumePossible(compiler);
            facts = factsOfAarch64();
        }

        @Test
        void everyFactHolds() throws IOException, InterruptedException {
            assertThat(compiler.compareByCompiling(comparable(facts))).isEmpty();
        }

        @Test
        void theFactsAreComplete() {
            assertComplete(facts);
        }

        @ParameterizedTest
        @EnumSource
        void aWrongFactIsFound(Facts.Kind kind) throws IOException, InterruptedException {
            Facts.Fact wrong = falsify(facts, kind);

            assertThat(compiler.compareByCompiling(with(comparable(facts), wrong))).containsExactly(wrong.claim());
        }

        @Test
        void onlyWhatIsBehindAMutexDiffers() {
            assumeTrue(!System.getProperty("os.arch").equals("aarch64"), "this is such a processor itself");
            Map<String, Long> here = Facts.all().stream()
                    .collect(Collectors.toMap(Facts.Fact::claim, Facts.Fact::value));
            List<String> different = facts.stream().filter(fact -> fact.value() != here.get(fact.claim()))
                    .map(Facts.Fact::claim).toList();

            assertThat(different).contains("size of opaque_pthread_mutex", "offset of ibv_context.abi_compat",
                            "offset of ibv_qp_ex.wr_start", "offset of ibv_cq_ex.start_poll")
                    .allMatch(claim -> claim.matches(
                            ".* (opaque_pthread_mutex|ibv_(context|cq|cq_ex|qp|qp_ex|srq|wq)|verbs_context)\\b.*"));
        }
    }

    private static List<Facts.Fact> factsOfAarch64() throws IOException, InterruptedException {
        Processes.Result result = Processes.java(List.of("-Dos.arch=aarch64", "--enable-native-access=ALL-UNNAMED"),
                Facts.class);
        assertThat(result.status()).describedAs(result.output()).isZero();
        return result.output().lines().map(Facts::parse).toList();
    }

    private static void assumePossible(CCompiler compiler) throws IOException, InterruptedException {
        String obstacle = compiler.obstacle();
        assumeTrue(obstacle.isEmpty(), obstacle);
        assumeTrue(RdmaCore.installedVersion() >= RdmaCore.OLDEST, "the installed headers are of rdma-core "
                + RdmaCore.installedVersion() + ", older than " + RdmaCore.OLDEST);
    }

    /**
     * Leaves out what the headers do not declare yet, or the sizes of all structs if the headers are of a later release
     * than the bindings: later releases append members.
     */
    private static List<Facts.Fact> comparable(List<Facts.Fact> facts) throws IOException {
        int release = RdmaCore.installedVersion();
        NewerFacts newer = new NewerFacts();
        return facts.stream().filter(fact -> newer.since(fact) <= release)
                .filter(fact -> release <= RdmaCore.GENERATED_FROM || fact.kind() != Facts.Kind.SIZE).toList();
    }

    private static void assertComplete(List<Facts.Fact> facts) {
        Map<Facts.Kind, Long> counts = facts.stream()
                .collect(Collectors.groupingBy(Facts.Fact::kind, Collectors.counting()));
        assertThat(facts).extracting(Facts.Fact::claim).doesNotHaveDuplicates();
        assertThat(counts.get(Facts.Kind.SIZE) + counts.get(Facts.Kind.ALIGNMENT) + counts.get(Facts.Kind.OFFSET))
                .describedAs("sizes, alignments and offsets: %s", counts).isGreaterThanOrEqualTo(1040);
        assertThat(counts.get(Facts.Kind.CONSTANT)).describedAs("constants").isGreaterThanOrEqualTo(1101);
    }

    /** Returns the first fact of a kind, off by one. */
    private static Facts.Fact falsify(List<Facts.Fact> facts, Facts.Kind kind) {
        Facts.Fact right = facts.stream().filter(fact -> fact.kind() == kind).findFirst().orElseThrow();
        return new Facts.Fact(kind, right.name(), right.expression(), right.value() + 1);
    }

    private static List<Facts.Fact> with(List<Facts.Fact> facts, Facts.Fact wrong) {
        return Stream.concat(facts.stream().filter(fact -> !fact.claim().equals(wrong.claim())), Stream.of(wrong))
                .toList();
    }
}
