// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FastPathTest {
    private static final String DEVICES = "io.rdmacm.critical.devices";

    @AfterEach
    void clear() {
        System.clearProperty(DEVICES);
    }

    @Test
    void aDeviceThatIsNotKnownMayPostWithASystemCall() {
        assertThat(FastPath.postsInUserSpace("device0")).isFalse();
    }

    @Test
    void theProgramCanVouchForDevices() {
        System.setProperty(DEVICES, "other0,device0");

        assertThat(FastPath.postsInUserSpace("device0")).isTrue();
        assertThat(FastPath.postsInUserSpace("other0")).isTrue();
        assertThat(FastPath.postsInUserSpace("device")).isFalse();
        assertThat(FastPath.postsInUserSpace("")).isFalse();
    }
}
