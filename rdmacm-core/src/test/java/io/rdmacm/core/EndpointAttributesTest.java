// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;

import io.rdmacm.verbs.queue.QueuePairCapabilities;
import org.junit.jupiter.api.Test;

class EndpointAttributesTest {
    @Test
    void theDefaults() {
        assertThat(EndpointAttributes.defaults()).isEqualTo(new EndpointAttributes(Optional.empty(), Optional.empty(),
                Optional.empty(), new QueuePairCapabilities(16, 16, 1, 1, 0), false));
    }

    @Test
    void eachSizeIsItsOwn() {
        EndpointAttributes attributes = EndpointAttributes.builder().protectionDomain(null).sendCompletionQueue(null)
                .receiveCompletionQueue(null).maxSendRequests(2).maxReceiveRequests(3).maxSendScatterGather(4)
                .maxReceiveScatterGather(5).maxInlineData(6).signalAll(true).build();
        assertThat(attributes.capabilities()).isEqualTo(new QueuePairCapabilities(2, 3, 4, 5, 6));
        assertThat(attributes.signalAll()).isTrue();
        assertThat(attributes.sendCompletionQueue()).isEmpty();
    }
}
