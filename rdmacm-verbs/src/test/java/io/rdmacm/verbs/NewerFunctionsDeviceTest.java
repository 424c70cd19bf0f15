// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.reflect.Method;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.rdmacm.bindings.NativeLibrary;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.device.LinkSpeed;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.InstalledLibrary;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.SendOpcode;
import org.junit.jupiter.api.Test;

/** What came after rdma-core 44, with the library that is installed: there, or refused by its name. */
@RequiresRdma
class NewerFunctionsDeviceTest {
    private static final Pattern RELEASE = Pattern.compile("rdma-core (\\d+)");

    private static int since(String function) {
        Matcher release = RELEASE.matcher(NativeLibrary.since(function).orElseThrow());
        assertThat(release.lookingAt()).isTrue();
        return Integer.parseInt(release.group(1));
    }

    @Test
    void eachFunctionIsThereOrNamedWithItsReleaseAndTheInstalledOne() throws RdmaException {
        List<String> functions = Stream.of(Rdma.class.getMethods()).map(Method::getName)
                .filter(name -> NativeLibrary.since(name).isPresent()
                        && NativeLibrary.of(name) == NativeLibrary.LIBIBVERBS).toList();
        assertThat(functions).hasSizeGreaterThanOrEqualTo(20);
        int installed = InstalledLibrary.release();
        for (String name : functions) {
            NativeFunction function = NativeFunction.of(name);
            if (installed >= since(name)) {
                assertThat(function.isAvailable()).describedAs(name).isTrue();
            } else {
                assertThatExceptionOfType(NativeLibraryException.class).isThrownBy(() -> function.callInt(0))
                        .withMessageContaining("no function " + name + ", which came with rdma-core " + since(name))
                        .withMessageContaining("the installed rdma-core " + installed + ".");
            }
        }
    }

    @Test
    @Covers({"ibv_query_port_speed", "ibv_query_port"})
    void theSpeedOfThePort() throws RdmaException {
        try (VerbsContext context = TrafficEnd.openDevice()) {
            PortAttributes port = context.queryPort(TrafficEnd.PORT);
            // an older library or kernel does not report it
            assertThat(port.activeSpeedEx()).isIn(new LinkSpeed(0), port.activeSpeed());
            assertThat(port.speed()).isEqualTo(port.activeSpeed());
            InstalledLibrary.requireRelease(62);
            try {
                assertThat(context.queryPortSpeed(TrafficEnd.PORT)).isPositive();
            } catch (RdmaUnsupportedException e) {
                assertThat(e).hasMessageStartingWith("ibv_query_port_speed (port 1): EOPNOTSUPP");
            }
        }
    }

    @Test
    @Covers("ibv_wr_opcode_str")
    void theNamesOfOperations() throws RdmaException {
        InstalledLibrary.requireRelease(49);
        assertThat(SendOpcode.FLUSH.text()).isEqualTo("flush");
        assertThat(SendOpcode.RDMA_WRITE.text()).isEqualTo("rdma-write");
    }

    @Test
    @Covers("ibv_query_qp_data_in_order")
    void theOrderOfData() throws RdmaException {
        try (TrafficEnd end = new TrafficEnd.Builder().build()) {
            for (boolean deviceOnly : new boolean[] {false, true}) {
                // SoftRoCE promises nothing
                assertThat(end.pair.queryDataInOrder(SendOpcode.RDMA_WRITE, deviceOnly).unknownBits()).isZero();
            }
        }
    }
}
