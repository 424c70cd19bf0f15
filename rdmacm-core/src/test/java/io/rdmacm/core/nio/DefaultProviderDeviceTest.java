// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.core.forked.DefaultProvider;
import io.rdmacm.core.testing.NioProvider;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** A JVM whose channels are all over RDMA. */
@RequiresRdma
class DefaultProviderDeviceTest {
    @Test
    void aProgramIsNotChangedAtAll() throws Exception {
        String name = NioProvider.RDMA.address().getHostAddress();
        ForkedJvm.Result result = jvm().run(name);

        assertThat(result.status()).describedAs(result.errors()).isZero();
        assertThat(result.output().lines()).startsWith("RdmaSocketChannel", "hello")
                .anyMatch(line -> line.startsWith("pipe: ") && line.endsWith("java.base/sun.nio.ch=ALL-UNNAMED"))
                .anyMatch(line -> line.startsWith("datagram: "));

        result = jvm().options("--add-exports", "java.base/sun.nio.ch=ALL-UNNAMED").run(name);
        assertThat(result.output().lines()).containsExactly("RdmaSocketChannel", "hello", "pipe", "datagram");
    }

    private static ForkedJvm jvm() {
        return ForkedJvm.of(DefaultProvider.class).nativeAccess().property(
                "java.nio.channels.spi.SelectorProvider", "io.rdmacm.core.nio.RdmaSelectorProvider");
    }
}
