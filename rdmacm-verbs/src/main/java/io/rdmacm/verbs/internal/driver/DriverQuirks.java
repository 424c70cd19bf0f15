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

    private static final String MLX5 = "mlx5_core";
    private static final String MLX4 = "mlx4_core";
    private static final Set<String> IRDMA = Set.of("irdma", "ice", "i40e");
    // The kernel drivers whose user-space counterparts post by writing to mapped memory. Not those of hns: their posts
    // to a queue that looks full wait for the end of a poll, and a critical call must not wait for another thread.
    private static final Set<String> USER_SPACE_DRIVERS = Set.of(MLX5, MLX4, "bnxt_en", "bnxt_re", "irdma", "ice",
            "i40e", "efa");
    private final boolean listed;
    private final String driver;
    private final boolean softRoce;

    /**
     * Looks at the driver of a device.
     *
     * @param device the name of the device
     * @param folder its folder in sysfs, {@code ibv_device.ibdev_path}
     */
    public DriverQuirks(String device, Path folder) {
        this.listed = List.of(System.getProperty(CRITICAL_DEVICES, "").split(",")).contains(device);
        this.driver = driver(folder.resolve("device/driver"));
        this.softRoce = Files.exists(folder.resolve("parent"));
    }

    private static String driver(Path link) {
        try {
            return Files.exists(link) ? link.toRealPath().getFileName().toString() : "";
        } catch (IOException e) {
            // The device was removed. What is done for unknown drivers is always correct.
            return "";
        }
    }

    /**
     * Returns whether posting never enters the kernel: true for known drivers, and for the devices that the system
     * property {@code io.rdmacm.critical.devices} lists.
     */
    public boolean postsInUserSpace() {
        return CRITICAL_ALLOWED && (listed || USER_SPACE_DRIVERS.contains(driver));
    }

    /**
     * Returns whether the driver ends a poll by itself if next_poll finds no further completion. The driver of SoftRoCE
     * does: a call of end_poll, although required by the API, would then advance the queue once too often.
     */
    public boolean nextPollEnds() {
        return softRoce;
    }

    /**
     * Returns whether the driver miscalculates the total length of a list in a send batch. The driver of SoftRoCE does:
     * it assumes that all scatter/gather entries are as long as the first, and that inline data is empty.
     */
    public boolean miscountsLists() {
        return softRoce;
    }

    /**
     * Returns whether a post to a queue that looks full waits for the end of a poll, forever if the same thread polls.
     * Posts of libmlx5 and libmlx4 do, unless the completion queue is created without a lock.
     */
    public boolean postsWaitForPolls() {
        return MLX5.equals(driver) || MLX4.equals(driver);
    }

    /** Returns whether a request for a notification waits for the end of a poll. Those of libirdma do. */
    public boolean notificationsWaitForPolls() {
        return IRDMA.contains(driver);
    }
}
