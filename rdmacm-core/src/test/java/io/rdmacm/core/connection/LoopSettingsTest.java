// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LoopSettingsTest {
    @Test
    void theDefaults() {
        assertThat(LoopSettings.defaults()).isEqualTo(new LoopSettings(1, 0, 4096, WaitPolicy.defaults()));
    }

    @Test
    void eachSettingIsChangedAlone() {
        LoopSettings settings = new LoopSettings(2, 3, 4, WaitPolicy.sleepAtOnce());
        assertThat(settings.withThreads(5)).isEqualTo(new LoopSettings(5, 3, 4, WaitPolicy.sleepAtOnce()));
        assertThat(settings.withSharedReceives(6, 7)).isEqualTo(new LoopSettings(2, 6, 7, WaitPolicy.sleepAtOnce()));
        assertThat(settings.withWaiting(WaitPolicy.spinAlways()))
                .isEqualTo(new LoopSettings(2, 3, 4, WaitPolicy.spinAlways()));
    }

    @Test
    void whatIsOutOfRangeIsRefusedByName() {
        LoopSettings settings = LoopSettings.defaults();
        assertThatThrownBy(() -> settings.withThreads(0)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("threads");
        assertThatThrownBy(() -> settings.withSharedReceives(-1, 1)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sharedReceives");
        assertThatThrownBy(() -> settings.withSharedReceives(1, 0)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("messageSize");
        assertThatThrownBy(() -> settings.withWaiting(null)).isInstanceOf(NullPointerException.class);
        assertThat(settings.withSharedReceives(0, 1).sharedReceives()).isZero();
    }
}
