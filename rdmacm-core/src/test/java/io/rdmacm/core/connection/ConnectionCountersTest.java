// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ConnectionCountersTest {
    @Test
    void countersAreValues() {
        ConnectionCounters.Recorder recorder = new ConnectionCounters.Recorder();
        ConnectionCounters before = recorder.snapshot(1);
        assertThat(recorder.snapshot(1)).isEqualTo(before).hasSameHashCodeAs(before);
        assertThat(recorder.snapshot(2)).isNotEqualTo(before);
        recorder.sent(4);
        assertThat(recorder.snapshot(1)).isNotEqualTo(before);
    }
}
