// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.Requirements;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** The cache of classes that the scripts make for short programs. */
@RequiresRdma
class CachedClassesDeviceTest {
    @Test
    void mostClassesOfAProgramComeFromIt() throws Exception {
        Requirements.require(String.join(" ", ForkedJvm.command()).contains(" -XX:SharedArchiveFile="),
                "the JVMs of the tests have no cache, or something was compiled since it was made");
        RdmaTestDevice device = RdmaTestDevice.get();
        ForkedJvm.Result result = ForkedJvm.of(Main.class).nativeAccess().options("-Xlog:class+load:stdout")
                .run("rping", "-c", "-a", device.ipv4().getHostAddress(), "-p",
                        "" + Ports.free(device.ipv4(), PortSpace.TCP));

        assertThat(result.errors()).contains("nobody listens");
        List<String> ours = result.output().lines().filter(line -> line.contains(" io.rdmacm.")).toList();
        List<String> cached = ours.stream().filter(line -> line.contains("shared objects file")).toList();
        assertThat(cached).describedAs("to write the list anew: scripts/with-rdma scripts/lib/list-classes; of "
                + ours).hasSizeGreaterThan(ours.size() * 9 / 10);
    }
}
