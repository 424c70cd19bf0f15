// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DriverQuirksTest {
    private static final String DEVICES = "io.rdmacm.critical.devices";

    @AfterEach
    void clear() {
        System.clearProperty(DEVICES);
    }

    @Test
    void aDeviceThatIsNotKnownMayPostWithASystemCall() {
        assertThat(DriverQuirks.postsInUserSpace("device0")).isFalse();
    }

    @Test
    void theProgramCanVouchForDevices() {
        System.setProperty(DEVICES, "other0,device0");

        assertThat(DriverQuirks.postsInUserSpace("device0")).isTrue();
        assertThat(DriverQuirks.postsInUserSpace("other0")).isTrue();
        assertThat(DriverQuirks.postsInUserSpace("device")).isFalse();
        assertThat(DriverQuirks.postsInUserSpace("")).isFalse();
    }
}
