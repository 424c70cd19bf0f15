// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;

import io.rdmacm.core.forked.LoseConnections;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.testing.ForkedJvm;
import org.junit.jupiter.api.Test;

/** What is lost of connections is reported with the place of its creation. */
@FakeRdmaCm.With
class LeakDetectionTest {
    private static final String[] REPORTS = {"CmId[UDP", "CmEvent[ADDR_CHANGE of CmId[TCP",
        "CmEvent[CONNECT_REQUEST of CmId[TCP", "EventChannel[fd"};
    private static final String[] PLACES = {"at io.rdmacm.core.forked.LoseConnections.neverClosed(",
        "at io.rdmacm.core.forked.LoseConnections.neverAcknowledged(",
        "at io.rdmacm.core.forked.LoseConnections.neverClaimed("};

    @Test
    void lostIdsEventsAndRequestsAreReported() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(LoseConnections.class).nativeAccess()
                .property("io.rdmacm.leakDetection", "true")
                .property("io.rdmacm.librdmacm", System.getProperty("io.rdmacm.librdmacm"))
                .run(Stream.of(REPORTS, PLACES).flatMap(Stream::of).toArray(String[]::new));
        assertThat(result.status()).describedAs(result.output() + result.errors()).isZero();
        List<String> reports = result.output().lines().filter(line -> line.contains("was lost without close()"))
                .toList();
        for (String report : REPORTS) {
            assertThat(reports).describedAs(result.output()).anyMatch(line -> line.contains(report));
        }
        assertThat(result.output()).contains(PLACES);
    }
}
