// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the codes of a port mean, as ibv_devinfo(1) prints them. */
class PortCodesTest {
    @ParameterizedTest
    @CsvSource({"1, 1", "2, 4", "4, 8", "8, 12", "16, 2"})
    void widths(int code, int lanes) {
        assertThat(new LinkWidth(code).lanes()).hasValue(lanes);
        assertThat(new LinkWidth(code)).hasToString(lanes + "X (code " + code + ")");
    }

    @ParameterizedTest
    @CsvSource({"1, 2500", "2, 5000", "4, 10000", "8, 10000", "16, 14000", "32, 25000", "64, 50000", "128, 100000",
        "256, 200000"})
    void speeds(int code, int megabits) {
        assertThat(new LinkSpeed(code).megabitsPerLane()).hasValue(megabits);
        assertThat(new LinkSpeed(code)).hasToString(megabits + " Mbit/s a lane (code " + code + ")");
    }

    @ParameterizedTest
    @CsvSource({"1, SLEEP", "2, POLLING", "3, DISABLED", "4, TRAINING", "5, LINK_UP", "6, LINK_ERROR_RECOVERY",
        "7, PHY_TEST"})
    void physicalStates(int code, String name) throws ReflectiveOperationException {
        assertThat(new PhysicalState(code)).hasToString(name + " (code " + code + ")")
                .isEqualTo(PhysicalState.class.getField(name).get(null));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 2", "3, 4", "4, 8", "5, 15"})
    void virtualLanes(int code, int lanes) {
        assertThat(new VirtualLanes(code).count()).hasValue(lanes);
        assertThat(new VirtualLanes(code)).hasToString(lanes + " (code " + code + ")");
    }

    @Test
    void constantsHaveTheirMeaning() {
        assertThat(List.of(LinkWidth.X1, LinkWidth.X2, LinkWidth.X4, LinkWidth.X8, LinkWidth.X12))
                .extracting(width -> width.lanes().orElseThrow()).containsExactly(1, 2, 4, 8, 12);
        assertThat(List.of(LinkSpeed.SDR, LinkSpeed.DDR, LinkSpeed.QDR, LinkSpeed.FDR10, LinkSpeed.FDR, LinkSpeed.EDR,
                LinkSpeed.HDR, LinkSpeed.NDR, LinkSpeed.XDR)).extracting(speed -> speed.megabitsPerLane().orElseThrow())
                .containsExactly(2500, 5000, 10000, 10000, 14000, 25000, 50000, 100000, 200000);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 255})
    void unknownCodesAreKept(int code) {
        assertThat(new LinkWidth(code).lanes()).isEmpty();
        assertThat(new LinkWidth(code)).hasToString("unknown (code " + code + ")");
        assertThat(new LinkSpeed(code).megabitsPerLane()).isEmpty();
        assertThat(new LinkSpeed(code)).hasToString("unknown (code " + code + ")");
        assertThat(new PhysicalState(code)).hasToString("unknown (code " + code + ")");
        assertThat(new VirtualLanes(code).count()).isEmpty();
        assertThat(new VirtualLanes(code)).hasToString("undefined (code " + code + ")");
    }

    @Test
    void aSpeedMayHaveAnyCode() {
        assertThat(new LinkSpeed(-1)).hasToString("unknown (code 4294967295)");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 256})
    void fieldsHaveEightBits(int code) {
        assertThatIllegalArgumentException().isThrownBy(() -> new LinkWidth(code));
        assertThatIllegalArgumentException().isThrownBy(() -> new PhysicalState(code));
        assertThatIllegalArgumentException().isThrownBy(() -> new VirtualLanes(code));
    }
}
