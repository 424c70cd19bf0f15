// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.core.forked.DropClassLoader;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** A class loader that used everything and closed it is freed: no thread, hook or thread-local refers to it. */
@RequiresRdma
class ClassLoaderDeviceTest {
    @Test
    void aClassLoaderThatUsedTheLibraryIsCollected() throws Exception {
        // The JDK itself has soft references to method handles of records.
        ForkedJvm.Result result = ForkedJvm.of(DropClassLoader.class).nativeAccess()
                .options("-XX:SoftRefLRUPolicyMSPerMB=0").run(RdmaTestDevice.get().ipv4().getHostAddress());
        assertThat(result.output()).as(result.errors()).isEqualTo("dropped\n");
    }
}
