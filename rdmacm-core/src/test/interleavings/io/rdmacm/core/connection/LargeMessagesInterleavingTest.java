// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.core.internal.engine.Workers;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Interleavings;
import org.junit.jupiter.api.Test;

/** Messages that the peer reads, beside others, whoever gives their buffers back and closes: each arrives once. */
class LargeMessagesInterleavingTest {
    private static Connection connect(int room, int largeMessages) throws RdmaException {
        return Connection.connect(ConnectionSettings.builder().messageSize(20).sendBuffers(room)
                .largeMessages(64, largeMessages).build());
    }

    private static void close(Connection one) throws Exception {
        one.close();
        one.peer().close();
        Workers.join();
        for (Connection side : new Connection[] {one, one.peer()}) {
            assertThat(side.device.pool(0).taken()).as("buffers that were not given back").isZero();
        }
    }

    private static void receive(Connection connection, int... values) throws Exception {
        for (int value : values) {
            try (Connection.Message message = connection.receive()) {
                assertThat(message.value()).isEqualTo(value);
            }
        }
    }

    @Test
    void messagesArriveInTheirOrder() throws Exception {
        Interleavings.explore(threads -> {
            Connection one = connect(2, 2);
            Thread receiver = threads.start("receiver", () -> receive(one.peer(), 1, 2, 3, 4));
            one.send(1);
            one.sendLarge(2);
            one.send(3);
            one.sendLarge(4);
            threads.join(receiver);
            close(one);
        });
    }

    @Test
    void whatIsSentBehindAnAnnouncementDoesNotOvertakeIt() throws Exception {
        Interleavings.explore(threads -> {
            Connection one = connect(4, 1);
            threads.start("sender", () -> one.sendLarge(1));
            threads.start("other", () -> {
                one.awaitAnnouncement();
                one.send(2);
            });
            receive(one.peer(), 1, 2);
            threads.join();
            close(one);
        });
    }

    @Test
    void bothSidesSendAtTheSameTime() throws Exception {
        Interleavings.explore(threads -> {
            Connection one = connect(1, 1);
            for (Connection side : new Connection[] {one, one.peer()}) {
                threads.start("sender", () -> {
                    side.sendLarge(1);
                    side.sendLarge(2);
                });
                threads.start("receiver", () -> receive(side, 1, 2));
            }
            threads.join();
            close(one);
        });
    }

    @Test
    void severalThreadsSendMoreThanThePeerTakes() throws Exception {
        Interleavings.explore(threads -> {
            Connection one = connect(4, 1);
            for (int i = 0; i < 3; i++) {
                threads.start("sender " + i, () -> one.sendLarge(7));
            }
            receive(one.peer(), 7, 7, 7);
            threads.join();
            close(one);
        });
    }

    /** The next one was announced while there was no buffer. */
    @Test
    void aBufferThatAnotherThreadGivesBackIsUsed() throws Exception {
        Interleavings.explore(threads -> {
            Connection one = connect(2, 1);
            Thread sender = threads.start("sender", () -> {
                one.sendLarge(1);
                one.sendLarge(2);
            });
            Connection.Message first = one.peer().receive();
            threads.start("closer", first::close);
            receive(one.peer(), 2);
            threads.join(sender);
            close(one);
        });
    }

    @Test
    void aCloseAtAnyTimeEndsBothSidesAndLeavesNothing() throws Exception {
        Interleavings.explore(threads -> {
            Connection one = connect(2, 1);
            threads.start("sender", () -> untilTheEnd(() -> one.sendLarge(1)));
            threads.start("receiver", () -> untilTheEnd(() -> receive(one.peer(), 1)));
            one.peer().close();
            threads.join();
            close(one);
        });
    }

    @Test
    void bothSidesCloseWhileBothSend() throws Exception {
        Interleavings.explore(threads -> {
            Connection one = connect(2, 1);
            for (Connection side : new Connection[] {one, one.peer()}) {
                threads.start("sender", () -> untilTheEnd(() -> side.sendLarge(1)));
                threads.start("closer", side::close);
            }
            threads.join();
            close(one);
        });
    }

    private static void untilTheEnd(Interleavings.Action action) throws Exception {
        try {
            action.run();
        } catch (RdmaClosedException e) {
            // closed before
        }
    }
}
