// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.AlternatePath;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import org.junit.jupiter.api.Test;

/** The alternate paths of apm_example. */
class ApmExampleTest {
    @Test
    void anAlternatePathDiffersInPortAndDestinationOnly() {
        AddressAttributes first = AddressAttributes.builder().port(1).destinationLid(4).serviceLevel(3).build();
        AckTimeout timeout = AckTimeout.ofCode(14);
        QueuePairAttributes current = QueuePairAttributes.builder().path(first).partitionKeyIndex(5).timeout(timeout)
                .build();
        AddressAttributes second = AddressAttributes.builder().port(2).destinationLid(9).serviceLevel(3).build();
        assertThat(AlternatePaths.alternate(current, 2, 9)).isEqualTo(new AlternatePath(second, 5, 2, timeout));
        assertThat(AlternatePaths.alternate(current, 0, 0)).isEqualTo(new AlternatePath(first, 5, 1, timeout));
    }
}
