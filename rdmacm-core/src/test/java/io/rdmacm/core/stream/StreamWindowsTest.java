// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayDeque;
import java.util.Random;

import io.rdmacm.verbs.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What may be sent, what may arrive, and what is in flight. */
class StreamWindowsTest {
    private static final long BASE = 1_000_000;
    private static final int KEY = 7;

    private static ConnectData peer(int credits, int bufferLength) {
        return new ConnectData(false, credits, 0, 0, 2, 0, BASE, bufferLength, KEY);
    }

    /** A sender and a receiver whose messages travel in order, but any time later. */
    @ParameterizedTest
    @CsvSource({"4096, 16, 1", "4096, 16, 2", "1024, 100, 3", "128, 1000, 4", "100000, 16, 5"})
    void neitherSideEverComplainsAndNothingStops(int size, int queueSize, int seed) throws Exception {
        Random random = Seed.random(seed);
        ReceiveWindow receiver = new ReceiveWindow(size, queueSize);
        SendWindow sender = new SendWindow(peer(queueSize, size / 2), 0, false);
        ArrayDeque<Integer> data = new ArrayDeque<>();
        ArrayDeque<int[]> credits = new ArrayDeque<>();
        long sent = 0;
        long arrived = 0;
        long read = 0;
        while (read < 200_000 + 20L * size) {
            switch (random.nextInt(5)) {
                case 0 -> {
                    if (sender.hasCredit() && sender.room() > 0) {
                        int length = 1 + random.nextInt(Math.min(sender.room(), size / 8));
                        // The next byte is where the receiver reads it.
                        assertThat(sender.address()).isEqualTo(BASE + sent % size);
                        sender.sent(length);
                        sent += length;
                        data.add(length);
                    }
                }
                case 1 -> {
                    if (!data.isEmpty()) {
                        arrived += data.peek();
                        receiver.arrived(data.remove());
                    }
                }
                case 2 -> {
                    assertThat(receiver.readOffset()).isEqualTo((int) (read % size));
                    assertThat(receiver.available()).isEqualTo((int) (arrived - read));
                    int length = random.nextInt(receiver.available() + 1);
                    receiver.consume(length);
                    read += length;
                }
                case 3 -> {
                    if (receiver.hasFreeHalf()) {
                        int offset = receiver.grantOffset();
                        receiver.grantHalf();
                        credits.add(new int[] {receiver.grantCredits(), offset});
                    } else if (receiver.owesCredits()) {
                        credits.add(new int[] {receiver.grantCredits(), -1});
                    }
                }
                default -> {
                    if (!credits.isEmpty()) {
                        int[] credit = credits.remove();
                        sender.credit(credit[0]);
                        if (credit[1] >= 0) {
                            sender.offer(BASE + credit[1], KEY, size / 2);
                        }
                    }
                }
            }
        }
    }

    @Test
    void dataBeyondTheGrantAreRefused() throws Exception {
        ReceiveWindow window = new ReceiveWindow(4096, 16);
        window.arrived(2048);
        assertRefused(() -> window.arrived(1), "was granted");
        window.grantHalf();
        window.arrived(1);
        assertRefused(() -> window.arrived(0), "0 bytes");
        assertRefused(() -> window.arrived(2048), "was granted");
    }

    @Test
    void messagesWithoutCreditsAreRefused() throws Exception {
        ReceiveWindow window = new ReceiveWindow(4096, 16);
        for (int i = 0; i < 16; i++) {
            window.arrived(1);
        }
        assertRefused(() -> window.arrived(1), "credit");
        assertRefused(window::countMessage, "credit");
        assertThat(window.grantCredits()).isEqualTo(32);
        window.countMessage();
    }

    @Test
    void creditsThatThePeerCannotHaveAreRefused() throws Exception {
        SendWindow window = new SendWindow(peer(16, 100), 0, false);
        assertRefused(() -> window.credit(17), "although it can take 16");
        assertRefused(() -> window.credit(0xFFFF), "although it can take 16");
        window.sent(1);
        window.credit(17);
        for (int i = 0; i < 16; i++) {
            assertThat(window.hasCredit()).isTrue();
            window.sent(1);
        }
        assertThat(window.hasCredit()).isFalse();
        // only the lower 16 bits count
        window.credit(0x10000 + 18);
        assertThat(window.hasCredit()).isTrue();
    }

    @Test
    void someReceivesOfThePeerAreSparedForMessagesWithoutACredit() throws Exception {
        SendWindow window = new SendWindow(peer(16, 100), 8, false);
        for (int i = 0; i < 8; i++) {
            assertThat(window.hasCredit()).isTrue();
            window.sent(1);
        }
        assertThat(window.hasCredit()).isFalse();
        // After a half of its messages, rsocket.c gives credits.
        window.credit(8 + 16);
        assertThat(window.hasCredit()).isTrue();
    }

    @Test
    void whoListensFirstHasNoCreditBeforeThePeerHasSpoken() {
        for (int spare : new int[] {0, 8}) {
            SendWindow window = new SendWindow(peer(16, 100), spare, true);
            assertThat(window.hasCredit()).isFalse();
            window.begin();
            assertThat(window.hasCredit()).isTrue();
        }
    }

    @Test
    void targetsThatAreOverwrittenOrHaveNoLengthAreRefused() throws Exception {
        SendWindow window = new SendWindow(peer(16, 100), 0, false);
        window.offer(1, 1, 10);
        window.offer(2, 2, 20);
        assertRefused(() -> window.offer(3, 3, 30), "overwrites");
        assertRefused(() -> window.offer(3, 3, 0), "buffer");
        assertRefused(() -> window.offer(3, 3, -1), "buffer");
        window.sent(100);
        assertThat(window.hasRoom()).isTrue();
        assertThat(window.room()).isEqualTo(10);
        assertThat(window.address()).isEqualTo(1);
        window.offer(3, 3, 30);
        window.sent(10);
        assertThat(window.room()).isEqualTo(20);
        assertThat(window.key()).isEqualTo(2);
    }

    @Test
    void requestsAreSignaledOftenEnoughToGoOn() {
        Random random = Seed.random(9);
        SendLedger ledger = new SendLedger(12, 4096);
        ArrayDeque<Long> signaled = new ArrayDeque<>();
        int posts = 0;
        while (posts < 100_000) {
            if (ledger.hasRequest() && ledger.free() >= StreamWriter.LOW_WATER && random.nextBoolean()) {
                long number = ledger.next();
                if (ledger.post(random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(ledger.free()), 0)) {
                    signaled.add(number);
                }
                posts++;
            } else if (!signaled.isEmpty()) {
                ledger.complete(signaled.remove());
            } else {
                assertThat(ledger.hasRequest() && ledger.free() >= StreamWriter.LOW_WATER).isTrue();
            }
            assertThat(ledger.free()).isBetween(0, 4096);
        }
    }

    @Test
    void lentBytesAreReleasedInOrder() {
        SendLedger ledger = new SendLedger(12, 4096);
        assertThat(ledger.post(0, 1000)).isTrue();
        assertThat(ledger.post(100, 0)).isFalse();
        assertThat(ledger.post(0, 500)).isTrue();
        assertThat(ledger.lent()).isEqualTo(1500);
        ledger.complete(0);
        assertThat(ledger.released()).isEqualTo(1000);
        ledger.complete(0);
        ledger.complete(7);
        assertThat(ledger.released()).isEqualTo(1000);
        ledger.complete(2);
        assertThat(ledger.released()).isEqualTo(1500);
        assertThat(ledger.free()).isEqualTo(4096);
    }

    /** Something that a peer must not do. */
    @FunctionalInterface
    private interface Violation {
        void run() throws StreamProtocolException;
    }

    private static void assertRefused(Violation violation, String message) {
        assertThatExceptionOfType(StreamProtocolException.class).isThrownBy(violation::run)
                .withMessageContaining(message);
    }
}
