// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The argument of the agent. */
class SettingsTest {
    @Test
    void nothingMeansTheDefaults() throws Exception {
        assertThat(Settings.parse(null)).isEqualTo(Settings.DEFAULTS);
        assertThat(Settings.parse(" ")).isEqualTo(Settings.DEFAULTS);
    }

    @Test
    void aNameIsThatOfTheRules(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("rules"), "deny both * 80\n");

        assertThat(Settings.parse(file.toString()).rules()).extracting(Rule::text).containsExactly("deny both * 80");
        Settings settings = Settings.parse("beside:100,memory:3,plain:off,rules:" + file);
        assertThat(settings.rules()).hasSize(1);
        assertThat(settings.beside()).isEqualTo(Duration.ofMillis(100));
        assertThat(settings.memory()).isEqualTo(Duration.ofSeconds(3));
        assertThat(settings.plain()).isFalse();
    }

    @Test
    void whatIsWrongIsNamed(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("rules"), "deny everything\n");

        assertThatThrownBy(() -> Settings.parse(file.toString())).hasMessageContainingAll("rules", "line 1");
        assertThatThrownBy(() -> Settings.parse("besides:1")).hasMessageContaining("besides");
        assertThatThrownBy(() -> Settings.parse("beside:soon")).hasMessageContaining("soon");
        assertThatThrownBy(() -> Settings.parse("plain:yes")).hasMessageContaining("yes");
        assertThatThrownBy(() -> Settings.parse("plain:on,off")).hasMessageContaining("off");
        assertThatThrownBy(() -> Settings.parse(folder.resolve("none").toString()))
                .isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void whatIsWrongMakesRdmaOfNoUseAndNoProgramFail() {
        assertThat(Installation.decide("besides:1").obstacle().reason()).contains("besides");
    }
}
