// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.verbs.testing.Measured;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A wire that loses, delays, reorders and doubles packets: the application sees that it takes longer, no more. */
@RequiresTwoHosts
class LossyWireTwoHostsTest {
    private static final int FEW = 512 << 10;
    private static final int SOME = 2 << 20;
    private static final int MUCH = 64 << 20;

    private InUse before;

    @BeforeEach
    void count() throws Exception {
        before = InUse.before();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        OtherHost.mend();
        before.assertAgain();
    }

    /** The checksum of what arrived is that of what was sent. */
    private static void assertIntact(int bytes, String way, String what) throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(bytes, 4096);
            MemorySegment wanted = arena.allocate(bytes, 4096);
            Server.fill(wanted);
            if (!way.equals("read")) {
                memory.copyFrom(wanted);
            }
            try (Client client = new Client(memory, way, Client.SHORT_TIMEOUT, ConnectionParameters.defaults())) {
                long lost = OtherHost.lostPackets();
                Measured measured = Measured.fromNow();
                long sum = client.transfer();
                Duration time = measured.time();
                Measured.print(bytes / 1024 + " KiB by " + way + ", " + what + ", "
                        + (OtherHost.lostPackets() - lost) + " packets lost", time);
                assertThat(sum).isEqualTo(Server.checksum(wanted));
                assertThat(Server.checksum(memory)).isEqualTo(sum);
            }
        }
    }

    private static void assertIntactByAllWays(int bytes, String words) throws Exception {
        OtherHost.netem(words);
        for (String way : new String[] {"send", "write", "read"}) {
            assertIntact(bytes, way, words);
        }
    }

    @Test
    void aGoodWire() throws Exception {
        for (String way : new String[] {"send", "write", "read"}) {
            assertIntact(SOME, way, "a good wire");
        }
        assertThat(OtherHost.lostPackets()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"loss 1%", "loss 5%"})
    void loss(String words) throws Exception {
        assertIntactByAllWays(SOME, words);
        assertThat(OtherHost.lostPackets()).isPositive();
    }

    /** Nearly all packets come in another order, and are sent again and again. */
    @Test
    void delayAndReordering() throws Exception {
        assertIntactByAllWays(FEW, "delay 5ms 2ms reorder 5% 50%");
    }

    @Test
    void duplication() throws Exception {
        assertIntactByAllWays(SOME, "duplicate 10%");
    }

    @ParameterizedTest
    @ValueSource(strings = {"send", "write", "read"})
    void sixtyFourMebibytesAtTwoPercentLoss(String way) throws Exception {
        OtherHost.netem("loss 2%");
        assertIntact(MUCH, way, "loss 2%");
        assertThat(OtherHost.lostPackets()).isPositive();
    }

    @Test
    void connectionsComeAndGo() throws Exception {
        OtherHost.netem("loss 5%");
        Measured measured = Measured.fromNow();
        for (int i = 0; i < 10; i++) {
            try (Line line = OtherHost.play(Greeter.class);
                    Endpoint client = Client.connect((int) line.hearNumber(), Client.SHORT_TIMEOUT,
                            ConnectionParameters.defaults())) {
                client.disconnect(Server.TIMEOUT);
                assertThat(line.hear()).isEqualTo("disconnected");
            }
        }
        measured.print("10 connections made and ended, loss 5%");
    }
}
