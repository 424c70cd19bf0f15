// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * What drivers do differently, as far as the data path must know it: by which of them a call may be critical, that is,
 * leave the thread's state alone, and which errors of theirs are worked around. A critical call is right only for a
 * driver that stays in user space, never for one that makes a system call, as the software devices do to send.
 */
public final class DriverQuirks {
    static final boolean CRITICAL_ALLOWED = Boolean.parseBoolean(System.getProperty("io.rdmacm.critical",
            "true"));
    private static final String CRITICAL_DEVICES = "io.rdmacm.critical.devices";

    // The kernel drivers whose user-space part posts by writing to mapped memory.
    private static final Set<String> USER_SPACE_DRIVERS = Set.of("mlx5_core", "mlx4_core", "bnxt_en", "bnxt_re",
            "irdma", "ice", "i40e", "efa", "hns3", "hns_roce_hw_v2");
    private static final Path DEVICES = Path.of("/sys/class/infiniband");

    private DriverQuirks() {
    }

    /**
     * Returns whether posting to a device never enters the kernel: true with the drivers that are known for it, and for
     * the devices that the property {@code io.rdmacm.critical.devices} names.
     *
     * @param device its name
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
            // the device went away; the slower way is always right
            return false;
        }
    }

    /**
     * Returns whether the driver of a device ends a poll by itself when next_poll finds no further completion. That of
     * SoftRoCE does, and would lose count if end_poll were then called as it should be.
     *
     * @param device its name
     */
    public static boolean nextPollEnds(String device) {
        return isSoftRoce(device);
    }

    /**
     * Returns whether the driver of a device adds up the lengths of a list in a batch wrongly. That of SoftRoCE does:
     * it takes all parts of regions to be as long as the first, and all inline data to be empty.
     *
     * @param device its name
     */
    public static boolean miscountsLists(String device) {
        return isSoftRoce(device);
    }

    private static boolean isSoftRoce(String device) {
        return Files.exists(DEVICES.resolve(device).resolve("parent"));
    }
}
