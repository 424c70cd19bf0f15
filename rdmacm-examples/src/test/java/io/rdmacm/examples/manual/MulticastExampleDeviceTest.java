// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.rdmacm.examples.testing.Leaks;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** The program multicast_example: one sender and several receivers. */
@RequiresRdma
class MulticastExampleDeviceTest {
    private static final int COUNT = 20;

    @Test
    void allReceiversGetAllMessages() throws Exception {
        List<Program> receivers = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                receivers.add(start("239.7.6.1", "-C", "" + COUNT, "-S", "500"));
            }
            for (Program receiver : receivers) {
                receiver.awaitOutput("waiting for " + COUNT + " messages");
            }
            try (Program sender = start("239.7.6.1", "-s", "-C", "" + COUNT, "-S", "500")) {
                assertThat(sender.result().status()).as(sender.output()).isZero();
                assertThat(sender.result().outLines()).last().isEqualTo("sent " + COUNT
                        + " messages of 500 bytes to ::ffff:239.7.6.1");
            }
            for (Program receiver : receivers) {
                assertThat(receiver.result().status()).as(receiver.output()).isZero();
                assertThat(receiver.result().outLines()).last().isEqualTo("received all " + COUNT + " messages");
                assertThat(receiver.result().outLines().stream().filter(line -> line.startsWith("received message")))
                        .map(line -> line.replaceAll(" from .*", "")).containsExactlyElementsOf(
                                IntStream.range(0, COUNT).mapToObj(i -> "received message " + i + " of 500 bytes")
                                        .toList());
            }
        } finally {
            receivers.forEach(Program::close);
        }
    }

    @Test
    void aReceiverFailsWhenNothingArrives() throws Exception {
        try (Program receiver = start("239.7.6.2", "-t", "1")) {
            assertThat(receiver.result().status()).isEqualTo(1);
            assertThat(receiver.result().errLines()).singleElement().asString().startsWith("multicast_example: ");
        }
    }

    @Test
    void messagesLargerThanAPacketAreRefused() throws Exception {
        try (Program sender = start("239.7.6.3", "-s", "-S", "5000")) {
            assertThat(sender.result().status()).isEqualTo(1);
            assertThat(sender.result().errLines()).singleElement().asString()
                    .matches("multicast_example: a packet holds at most \\d+ bytes here, not 5000");
        }
    }

    @Test
    void nothingIsLeaked() throws Exception {
        Leaks.assertNone(() -> {
            try (Program receiver = start("239.7.6.4", "-C", "2")) {
                receiver.awaitOutput("waiting for 2 messages");
                try (Program sender = start("239.7.6.4", "-s", "-C", "2")) {
                    assertThat(sender.result().status()).isZero();
                }
                assertThat(receiver.result().status()).isZero();
            }
        });
    }

    private static Program start(String group, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("multicast_example", "-m", group, "-b",
                RdmaTestDevice.get().ipv4().getHostAddress()));
        words.addAll(List.of(more));
        return Program.inThread(words.toArray(String[]::new));
    }
}
