// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Linker;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.rdmacm.core.CmId;
import io.rdmacm.verbs.testing.ForeignCalls;
import org.junit.jupiter.api.Test;

/** What GraalVM's native-image has to be told about this module is in its jar. */
class ReachabilityMetadataTest {
    private static final String FILE = "/META-INF/native-image/io.rdmacm/rdmacm-core/reachability-metadata.json";

    @Test
    void itsCallsAreThoseOfVerbs() throws IOException {
        assertThat(ForeignCalls.callers(CmId.class, Linker.class, List.of("downcallHandle", "upcallStub"))).isEmpty();
    }

    @Test
    void theClassesThatAreLookedUpByNameAreKept() throws IOException {
        assertThat(ForeignCalls.callers(CmId.class, Class.class, List.of("forName")))
                .containsExactlyInAnyOrder("io.rdmacm.core.nio.JdkProvider",
                        "io.rdmacm.core.internal.access.StreamAccess");
        try (InputStream file = CmId.class.getResourceAsStream(FILE)) {
            assertThat(new String(file.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("\"sun.nio.ch.DefaultSelectorProvider\"", "\"io.rdmacm.core.stream.StreamAccessor\"");
        }
    }
}
