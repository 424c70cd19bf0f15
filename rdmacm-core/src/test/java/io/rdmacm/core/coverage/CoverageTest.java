// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.coverage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

/** The table docs/coverage.md is complete and up to date. */
class CoverageTest {
    private static final Path TABLE = Path.of("..", "docs", "coverage.md");
    private static final List<String> HEADERS = List.of("infiniband/verbs.h", "rdma/rdma_cma.h", "rdma/rdma_verbs.h",
            "rdma/rsocket.h");
    private static final Pattern INLINE = Pattern.compile(
            "static inline\\s+(?:const\\s+)?(?:struct\\s+|enum\\s+)?\\w+[\\s*]+"
                    + "(?:__attribute_const\\s+)?(\\w+)\\s*\\(");

    /** CONTRIBUTING.md has the command that writes it anew. */
    @Test
    void theTableIsUpToDate() throws Exception {
        String wanted = new Coverage().toMarkdown();
        if (Boolean.getBoolean("io.rdmacm.writeCoverage")) {
            Files.createDirectories(TABLE.getParent());
            Files.writeString(TABLE, wanted);
        }
        assertThat(TABLE).describedAs("docs/coverage.md is stale: write it anew with -Dtest.argLine="
                + "-Dio.rdmacm.writeCoverage=true -Dtest=CoverageTest").hasContent(wanted);
    }

    @Test
    void theAnnotationsNameOnlyFunctionsOfTheHeaders() throws Exception {
        assertThat(new Coverage().unknownNames()).isEmpty();
    }

    @Test
    void everyFunctionHasAMethodAndATest() throws Exception {
        Coverage coverage = new Coverage();
        assertThat(Coverage.functions()).hasSizeGreaterThanOrEqualTo(255);
        Set<String> without = Coverage.functions().stream()
                .filter(f -> !coverage.isLeftOut(f))
                .filter(f -> coverage.methodsOf(f).isEmpty() || !f.isDirect() && coverage.testsOf(f).isEmpty())
                .map(Coverage.Function::name).collect(Collectors.toSet());
        assertThat(without).isEmpty();
    }

    @Test
    void theListHasEveryInlineFunctionOfTheInstalledHeaders() throws Exception {
        Path include = Path.of("/usr/include");
        assumeTrue(HEADERS.stream().allMatch(header -> Files.exists(include.resolve(header))),
                "the headers of libibverbs-dev and librdmacm-dev are not installed");
        Set<String> listed = Coverage.functions().stream().map(Coverage.Function::name).collect(Collectors.toSet());
        Set<String> found = new TreeSet<>();
        for (String header : HEADERS) {
            Matcher matcher = INLINE.matcher(Files.readString(include.resolve(header)));
            while (matcher.find()) {
                found.add(matcher.group(1));
            }
        }
        assertThat(found).hasSizeGreaterThan(100);
        found.removeAll(listed);
        assertThat(found).isEmpty();
    }
}
