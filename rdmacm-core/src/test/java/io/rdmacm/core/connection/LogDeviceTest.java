// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.core.forked.EndsQuietly;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** What a connection writes to the log. */
@RequiresRdma
class LogDeviceTest {
    @Test
    void aConnectionAndItsEndAreALineEachAtDebug() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(EndsQuietly.class).nativeAccess()
                .property("org.slf4j.simpleLogger.defaultLogLevel", "debug").run();
        assertThat(result.output()).as(result.errors()).endsWith("ended\n");
        assertThat(result.errors().lines()).filteredOn(line -> line.contains("connected to")).hasSize(1);
        assertThat(result.errors().lines()).filteredOn(line -> line.contains("accepted")).hasSize(1);
        assertThat(result.errors().lines()).filteredOn(line -> line.contains("has disconnected")).hasSize(1);
        assertThat(result.errors()).doesNotContain("\tat ");
    }

    @Test
    void onlyDevicesAndListenersAreWorthMoreThanDebug() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(EndsQuietly.class).nativeAccess()
                .property("org.slf4j.simpleLogger.defaultLogLevel", "info").run();
        assertThat(result.output()).as(result.errors()).endsWith("ended\n");
        assertThat(result.errors()).doesNotContain("WARN ", "ERROR ");
        assertThat(result.errors().lines()).filteredOn(line -> line.contains("INFO "))
                .allMatch(line -> line.contains("listens on") || line.contains("using the device"))
                .anyMatch(line -> line.contains("listens on")).anyMatch(line -> line.contains("using the device"));
    }
}
