// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;

/** Flow labels are converted as verbs.h converts them. */
@WithFakeVerbs
class FlowLabelTest {
    @Test
    @Covers("ibv_flow_label_to_udp_sport")
    void theUdpSourcePortOfAFlowLabel() {
        for (int label = 0; label <= FlowLabel.MAX; label += 331) {
            assertThat(FlowLabel.toUdpSourcePort(label)).isEqualTo((int) FakeVerbs.call("oracle_udp_port", label));
        }
        assertThat(FlowLabel.toUdpSourcePort(FlowLabel.MAX))
                .isEqualTo((int) FakeVerbs.call("oracle_udp_port", FlowLabel.MAX));
        assertThatIllegalArgumentException().isThrownBy(() -> FlowLabel.toUdpSourcePort(FlowLabel.MAX + 1));
        assertThatIllegalArgumentException().isThrownBy(() -> FlowLabel.toUdpSourcePort(-1));
    }
}
