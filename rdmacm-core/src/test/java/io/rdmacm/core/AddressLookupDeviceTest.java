// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.AddressInfo.Flag;
import io.rdmacm.core.AddressInfo.Hints;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.RdmaCore60;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Look-ups of an id, through librdmacm and the kernel; where one of them is too old, how that is told. */
@RequiresRdma
class AddressLookupDeviceTest {
    private static final String FUNCTION = "rdma_resolve_addrinfo";
    private static final Hints NUMERIC = new Hints(Set.of(Flag.NUMERICHOST), PortSpace.TCP, Optional.empty());
    private static final Hints SERVICE = new Hints(Set.of(Flag.SA), PortSpace.IB, Optional.empty());

    @Test
    @Covers({"rdma_resolve_addrinfo", "rdma_query_addrinfo"})
    void anAddressIsFound() throws Exception {
        String host = RdmaTestDevice.get().ipv4().getHostAddress();
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            for (int i = 0; i < 2; i++) {
                if (!RdmaCore60.isDone(FUNCTION, () -> id.resolveAddressInfo(host, "7174", NUMERIC))) {
                    continue;
                }
                assertThatThrownBy(id::queryAddressInfo).isInstanceOf(IllegalStateException.class);
                try (CmEvent event = channel.await(id, CmEventType.ADDRINFO_RESOLVED, Loopback.TIMEOUT)) {
                    assertThat(event.status()).isZero();
                }
                assertThat(id.queryAddressInfo()).singleElement().satisfies(info -> {
                    assertThat(info.destination()).contains(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 7174));
                    assertThat(info.portSpace()).isEqualTo(PortSpace.TCP);
                });
            }
            assertThatThrownBy(id::queryAddressInfo).isInstanceOf(IllegalStateException.class);
            // one whose outcome nobody reads
            RdmaCore60.isDone(FUNCTION, () -> id.resolveAddressInfo(host, "7174", NUMERIC));
        }
    }

    @Test
    void whatIsNotKnownIsTold() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            if (!RdmaCore60.has(FUNCTION)) {
                RdmaCore60.assertNotInstalled(FUNCTION, () -> id.resolveAddressInfo("no.address", "7174", NUMERIC));
                return;
            }
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> id.resolveAddressInfo("no.address", "7174", NUMERIC))
                        .isExactlyInstanceOf(RdmaException.class).hasMessageContainingAll(FUNCTION, "EAI_NONAME");
            }
            assertThat(channel.pollEvent()).isEmpty();
        }
    }

    /** A port that is not InfiniBand has no subnet administration to ask. */
    @Test
    void servicesAreFoundOnInfinibandOnly() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
            if (RdmaCore60.has(FUNCTION)) {
                assertThatThrownBy(() -> id.resolveAddressInfo(null, "storage", SERVICE))
                        .isInstanceOf(RdmaUnsupportedException.class).hasMessageContaining("InfiniBand");
                assertThatThrownBy(() -> AddressInfo.resolve(null, "storage", SERVICE))
                        .isInstanceOfSatisfying(RdmaException.class,
                                e -> assertThat(e.errno()).isEqualTo(Rdma.ENOENT()));
            } else {
                RdmaCore60.assertNotInstalled(FUNCTION, () -> id.resolveAddressInfo(null, "storage", SERVICE));
                RdmaCore60.assertNotInstalled(FUNCTION, () -> AddressInfo.resolve(null, "storage", SERVICE));
            }
            assertThat(channel.pollEvent()).isEmpty();
        }
    }
}
