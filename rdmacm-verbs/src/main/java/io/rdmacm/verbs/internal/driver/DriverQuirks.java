// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * Differences between drivers that matter to the data path: which of them may be called critically, that is, without a
 * thread state transition, and which bugs have to be worked around. Critical calls are only allowed for drivers that
 * stay in user space, never for those that make a system call, as software devices do to send.
 */
public final class DriverQuirks {
    static final boolean CRITICAL_ALLOWED = Boolean.parseBoolean(System.getProperty("io.rdmacm.critical",
            "true"));
    private static final String CRITICAL_DEVICES = "io.rdmacm.critical.devices";

    // The kernel drivers whose user-space counterparts post by writing to mapped memory.
    private static final Set<String> USER_SPACE_DRIVERS = Set.of("mlx5_core", "mlx4_core", "bnxt_en", "bnxt_re",
            "irdma", "ice", "i40e", "efa", "hns3", "hns_roce_hw_v2");
    private static final Path DEVICES = Path.of("/sys/class/infiniband");

    private DriverQuirks() {
    }

    /**
     * Returns whether posting to a device never enters the kernel: true for known drivers, and for the devices that the
     * system property {@code io.rdmacm.critical.devices} lists.
     *
     * @param device the name of the device
     */
    public static boolean postsInUserSpace(String device) {
        if (CRITICAL_ALLOWED && List.of(System.getProperty(CRITICAL_DEVICES, "").split(",")).contains(device)) {
            return true;
        }
        Path driver = DEVICES.resolve(device).resolve("device/driver");
        try {
            return CRITICAL_ALLOWED && Files.exists(driver)
                    && USER_SPACE_DRIVERS.contains(driver.toRealPath().getFileName().toString());
        } catch (IOException e) {
            // The device was removed. The slower calls are always correct.
            return false;
        }
    }

    /**
     * Returns whether the driver of a device ends a poll by itself if next_poll finds no further completion. The driver
     * of SoftRoCE does: a call of end_poll, although required by the API, would then advance the queue once too often.
     *
     * @param device the name of the device
     */
    public static boolean nextPollEnds(String device) {
        return isSoftRoce(device);
    }

    /**
     * Returns whether the driver of a device miscalculates the total length of a list in a send batch. The driver of
     * SoftRoCE does: it assumes that all scatter/gather entries are as long as the first, and that inline data is
     * empty.
     *
     * @param device the name of the device
     */
    public static boolean miscountsLists(String device) {
        return isSoftRoce(device);
    }

    private static boolean isSoftRoce(String device) {
        return Files.exists(DEVICES.resolve(device).resolve("parent"));
    }
}
