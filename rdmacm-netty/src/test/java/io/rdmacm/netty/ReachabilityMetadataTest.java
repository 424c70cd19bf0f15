// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Linker;
import java.util.List;

import io.rdmacm.verbs.testing.ForeignCalls;
import org.junit.jupiter.api.Test;

/** GraalVM's native-image has to be told nothing about this module. */
class ReachabilityMetadataTest {
    @Test
    void itsCallsAreThoseOfVerbs() throws IOException {
        assertThat(ForeignCalls.callers(RdmaStreamChannel.class, Linker.class, List.of("downcallHandle", "upcallStub")))
                .isEmpty();
        assertThat(ForeignCalls.callers(RdmaStreamChannel.class, Class.class, List.of("forName"))).isEmpty();
    }
}
