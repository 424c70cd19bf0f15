// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.core.forked.ShortOfMemory;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that cannot be had ends the connection that needs it, and no other. */
@RequiresRdma
class ShortOfMemoryDeviceTest {
    private static void run(String option, String what) throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(ShortOfMemory.class).nativeAccess().options(option)
                .run(what, RdmaTestDevice.get().ipv4().getHostAddress());
        assertThat(result.output()).as(result.errors()).endsWith("fine\n");
        assertThat(result.status()).isZero();
    }

    @Test
    void directMemory() throws Exception {
        directMemory("connections");
    }

    @Nightly
    @ParameterizedTest
    @ValueSource(strings = {"shared receives", "streams"})
    void directMemory(String user) throws Exception {
        run("-XX:MaxDirectMemorySize=24m", "direct, " + user);
    }

    @Nightly
    @Test
    void heap() throws Exception {
        run("-Xmx32m", "heap");
    }
}
