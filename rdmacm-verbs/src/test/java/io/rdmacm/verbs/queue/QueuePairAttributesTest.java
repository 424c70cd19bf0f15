// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.util.function.IntFunction;

import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.AlternatePath;
import io.rdmacm.verbs.address.Gid;
import org.junit.jupiter.api.Test;

/** The values of the attributes of a queue pair, and which of them are set. */
class QueuePairAttributesTest {
    @Test
    void durationsAreRoundedUpToTheNextCode() {
        QueuePairAttributes rounded = QueuePairAttributes.builder().timeout(Duration.ofMillis(500))
                .minRnrTimer(Duration.ofMillis(1)).build();
        assertThat(rounded.timeout()).isEqualTo(AckTimeout.ofCode(17));
        assertThat(rounded.minRnrTimer()).isEqualTo(RnrTimer.ofCode(14));
        assertThat(rounded).hasToString("QueuePairAttributes{TIMEOUT=PT0.536870912S (code 17),"
                + " MIN_RNR_TIMER=PT0.00128S (code 14)}");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> QueuePairAttributes.builder().timeout(Duration.ofDays(1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> QueuePairAttributes.builder().minRnrTimer(Duration.ofSeconds(1)));
    }

    @Test
    void aMissingValueIsNamed() {
        QueuePairAttributes some = QueuePairAttributes.toReset();
        assertThat(some).hasToString("QueuePairAttributes{STATE=RESET}");
        assertThat(some.has(QueuePairAttribute.QKEY)).isFalse();
        assertThatIllegalStateException().isThrownBy(some::queueKey)
                .withMessage("QKEY is not among the attributes: QueuePairAttributes{STATE=RESET}");
        assertThat(some.toBuilder().queueKey(5).build())
                .hasToString("QueuePairAttributes{STATE=RESET, QKEY=5}").isNotEqualTo(some);
    }

    private static void assertLimit(int limit, IntFunction<QueuePairAttributes.Builder> setter) {
        setter.apply(0);
        setter.apply(limit);
        for (int wrong : new int[] {-1, limit + 1, Integer.MIN_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> setter.apply(wrong))
                    .withMessageEndingWith(" must be from 0 to " + limit + ", not " + wrong);
        }
    }

    @Test
    void numbersThatDoNotFitAreRefused() {
        QueuePairAttributes.Builder builder = QueuePairAttributes.builder();
        assertLimit(0xffff, builder::partitionKeyIndex);
        assertLimit(0xff, builder::port);
        assertLimit(31, code -> builder.timeout(AckTimeout.ofCode(code)));
        assertLimit(7, builder::retryCount);
        assertLimit(7, builder::rnrRetry);
        assertLimit(0xffffff, builder::receivePacketNumber);
        assertLimit(0xffffff, builder::sendPacketNumber);
        assertLimit(0xffffff, builder::destinationQueuePair);
        assertLimit(0xff, builder::maxReadAtomic);
        assertLimit(0xff, builder::maxDestinationReadAtomic);
        assertLimit(31, code -> builder.minRnrTimer(RnrTimer.ofCode(code)));
        for (int wrong : new int[] {0, 1, 128, 257, 1025, 8192, -4096, Integer.MIN_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> builder.pathMtu(wrong))
                    .withMessage("the path MTU must be 256, 512, 1024, 2048 or 4096, not " + wrong);
        }
        AddressAttributes path = AddressAttributes.ofRoute(3, new Gid(1, 2), 4);
        assertThatIllegalArgumentException().isThrownBy(() -> new AlternatePath(path, 0x10000, 1, AckTimeout.INFINITE));
        assertThatIllegalArgumentException().isThrownBy(() -> new AlternatePath(path, 1, 256, AckTimeout.INFINITE));
        assertThatIllegalArgumentException().isThrownBy(() -> new AlternatePath(path, 1, 1, new AckTimeout(256)));
    }
}
