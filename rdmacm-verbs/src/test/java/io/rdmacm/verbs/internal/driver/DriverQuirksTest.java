// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriverQuirksTest {
    private static final String DEVICES = "io.rdmacm.critical.devices";

    @AfterEach
    void clear() {
        System.clearProperty(DEVICES);
    }

    @Test
    void aDeviceThatIsNotKnownMayPostWithASystemCall(@TempDir Path folder) {
        DriverQuirks unknown = new DriverQuirks("device0", folder);

        assertThat(unknown.postsInUserSpace()).isFalse();
        assertThat(unknown.nextPollEnds()).isFalse();
        assertThat(unknown.miscountsLists()).isFalse();
        assertThat(unknown.postsWaitForPolls()).isFalse();
        assertThat(unknown.notificationsWaitForPolls()).isFalse();
    }

    @Test
    void theProgramCanVouchForDevices(@TempDir Path folder) {
        System.setProperty(DEVICES, "other0,device0");

        assertThat(new DriverQuirks("device0", folder).postsInUserSpace()).isTrue();
        assertThat(new DriverQuirks("other0", folder).postsInUserSpace()).isTrue();
        assertThat(new DriverQuirks("device", folder).postsInUserSpace()).isFalse();
        assertThat(new DriverQuirks("", folder).postsInUserSpace()).isFalse();
    }

    @Test
    void driversAreKnownByTheirLink(@TempDir Path folder) throws IOException {
        DriverQuirks mlx5 = new DriverQuirks("mlx5_0", ofDriver(folder, "mlx5_core"));
        DriverQuirks efa = new DriverQuirks("efa_0", ofDriver(folder, "efa"));

        DriverQuirks irdma = new DriverQuirks("irdma0", ofDriver(folder, "ice"));

        assertThat(irdma.notificationsWaitForPolls()).isTrue();
        assertThat(mlx5.notificationsWaitForPolls()).isFalse();
        assertThat(mlx5.postsInUserSpace()).isTrue();
        assertThat(mlx5.postsWaitForPolls()).isTrue();
        assertThat(efa.postsInUserSpace()).isTrue();
        assertThat(efa.postsWaitForPolls()).isFalse();
    }

    @Test
    void softRoceIsKnownByItsParent(@TempDir Path folder) throws IOException {
        Files.createFile(folder.resolve("parent"));
        DriverQuirks softRoce = new DriverQuirks("rxe0", folder);

        assertThat(softRoce.nextPollEnds()).isTrue();
        assertThat(softRoce.miscountsLists()).isTrue();
        assertThat(softRoce.postsInUserSpace()).isFalse();
    }

    private static Path ofDriver(Path sysfs, String name) throws IOException {
        Path driver = Files.createDirectories(sysfs.resolve("drivers").resolve(name));
        Path device = Files.createDirectories(sysfs.resolve("devices").resolve(name));
        Files.createSymbolicLink(Files.createDirectory(device.resolve("device")).resolve("driver"), driver);
        return device;
    }
}
