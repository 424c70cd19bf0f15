// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;

import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.RdmaCore60;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Events that a program writes itself, through the kernel; where it or librdmacm is too old, how that is told. */
@RequiresRdma
class UserEventDeviceTest {
    private static final long ARGUMENT = 0x8765_4321_0fed_cba9L;

    @Test
    @Covers("rdma_write_cm_event")
    void whatIsWrittenWakesTheReader() throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            // an id that is neither bound nor connected
            if (!RdmaCore60.isDone("rdma_write_cm_event", () -> id.writeEvent(-5, ARGUMENT))) {
                assertThat(channel.pollEvent()).isEmpty();
                return;
            }
            assertWritten(channel.getEvent(Loopback.TIMEOUT), id);
            try (Background<CmEvent> waiting = Background.call(() -> channel.getEvent(Duration.ofDays(1)))
                    .awaitInside(Poller.class, "await")) {
                id.writeEvent(-5, ARGUMENT);
                assertWritten(waiting.result(), id);
            }
        }
    }

    @Test
    void noEventKeepsAnIdOpen() throws Exception {
        try (EventChannel channel = EventChannel.open(); EventChannel target = EventChannel.open()) {
            CmId id = CmId.open(channel, PortSpace.TCP);
            id.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
            if (RdmaCore60.isDone("rdma_write_cm_event", () -> id.writeEvent(-5, ARGUMENT))) {
                channel.readAll();
                id.writeEvent(-5, ARGUMENT);
                id.migrate(target);
                assertWritten(target.getEvent(Loopback.TIMEOUT), id);
                assertWritten(target.getEvent(Loopback.TIMEOUT), id);
                // one that was read and not taken, and one that was not read
                id.writeEvent(-5, ARGUMENT);
                target.readAll();
                id.writeEvent(-5, ARGUMENT);
            }
            id.close();
            assertThat(channel.pollEvent()).isEmpty();
            assertThat(target.pollEvent()).isEmpty();
        }
    }

    private static void assertWritten(CmEvent written, CmId id) throws Exception {
        try (CmEvent event = written) {
            assertThat(event.type()).isEqualTo(CmEventType.USER);
            assertThat(event.id()).isSameAs(id);
            assertThat(event.status()).isEqualTo(-5);
            assertThat(event.argument()).isEqualTo(ARGUMENT);
        }
    }
}
