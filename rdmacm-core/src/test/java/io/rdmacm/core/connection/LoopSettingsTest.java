// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacm.verbs.testing.Accessors;
import org.junit.jupiter.api.Test;

class LoopSettingsTest {
    @Test
    void theDefaults() {
        LoopSettings settings = LoopSettings.defaults();
        assertThat(settings.threads()).isEqualTo(1);
        assertThat(settings.sharedReceives()).isZero();
        assertThat(settings.messageSize()).isEqualTo(4096);
        assertThat(settings.waiting()).isEqualTo(WaitPolicy.defaults());
    }

    @Test
    void eachSettingIsChangedAlone() {
        LoopSettings settings = LoopSettings.builder().threads(2).sharedReceives(3, 4)
                .waiting(WaitPolicy.sleepAtOnce()).build();
        LoopSettings changed = settings.toBuilder().threads(5).build();
        assertThat(changed.threads()).isEqualTo(5);
        assertThat(changed.sharedReceives()).isEqualTo(3);
        assertThat(changed.messageSize()).isEqualTo(4);
        assertThat(changed.waiting()).isEqualTo(WaitPolicy.sleepAtOnce());
        assertThat(settings.threads()).isEqualTo(2);
        assertThat(changed).isNotEqualTo(settings);
        assertThat(changed.toBuilder().threads(2).build()).isEqualTo(settings).hasSameHashCodeAs(settings);
    }

    @Test
    void theTextNamesEachSetting() {
        Accessors.assertNamed(LoopSettings.defaults());
        assertThat(LoopSettings.builder().threads(7).build()).asString().contains("threads=7");
    }

    @Test
    void whatIsOutOfRangeIsRefusedByName() {
        assertThatThrownBy(() -> LoopSettings.builder().threads(0).build())
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("threads");
        assertThatThrownBy(() -> LoopSettings.builder().sharedReceives(-1, 1).build())
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("sharedReceives");
        assertThatThrownBy(() -> LoopSettings.builder().sharedReceives(1, 0).build())
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("messageSize");
        assertThatThrownBy(() -> LoopSettings.builder().waiting(null).build())
                .isInstanceOf(NullPointerException.class);
    }
}
