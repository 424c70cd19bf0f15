// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;

import io.rdmacm.verbs.forked.UseNewerFunctions;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;

/** What rdma-core 44 lacks is refused, each function by its name, before anything native is called. */
@WithFakeVerbs
class OlderLibraryTest {
    private static final String PROPERTY = "io.rdmacm.libibverbs";

    @Test
    void eachNewerFunctionIsNamedWithItsReleaseAndTheInstalledOne() throws Exception {
        String old = Path.of(System.getProperty(PROPERTY)).resolveSibling("old/libibverbs.so.1.14.44.0").toString();

        ForkedJvm.Result result = ForkedJvm.of(UseNewerFunctions.class).nativeAccess().property(PROPERTY, old).run();

        assertThat(result.status()).describedAs(result.errors()).isZero();
        List<String> lines = result.output().lines().toList();
        assertThat(lines).contains("forgotten: []", "native calls: []", "left behind: 0",
                "order: [WHOLE_MSG, ALIGNED_128_BYTES], of the device: [], flags: [0]");
        List<String> refusals = lines.stream().filter(line -> line.startsWith("ibv_") || line.startsWith("_ibv_"))
                .toList();
        assertThat(refusals).isNotEmpty().allSatisfy(line -> {
            String name = line.substring(0, line.indexOf(' '));
            assertThat(line).matches(name + " -> " + name + ": .*/libibverbs\\.so\\.1\\.14\\.44\\.0 has no function "
                    + name + ", which came with rdma-core (45|49|59|62|64|65).*: the installed rdma-core 44\\.0 is too"
                    + " old, update the package libibverbs1");
        });
        assertThat(lines).anySatisfy(line -> assertThat(line).startsWith("unprotected -> ibv_alloc_buf: ")
                .contains("rdma-core 64"));
    }
}
