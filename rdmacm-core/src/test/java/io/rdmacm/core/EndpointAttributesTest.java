// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.verbs.queue.QueuePairCapabilities;
import org.junit.jupiter.api.Test;

class EndpointAttributesTest {
    @Test
    void theDefaults() {
        EndpointAttributes defaults = EndpointAttributes.defaults();
        assertThat(defaults.protectionDomain()).isEmpty();
        assertThat(defaults.sendCompletionQueue()).isEmpty();
        assertThat(defaults.receiveCompletionQueue()).isEmpty();
        assertThat(defaults.capabilities()).isEqualTo(new QueuePairCapabilities(16, 16, 1, 1, 0));
        assertThat(defaults.signalAll()).isFalse();
        assertThat(defaults).isEqualTo(EndpointAttributes.builder().build());
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
