// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import io.rdmacm.core.forked.RemovedDevice;
import io.rdmacm.core.testing.OrdinaryUser;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.Requirements;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A device that is removed while a program uses it: one more SoftRoCE device, used by a JVM of its own, so that other
 * tests do not notice.
 */
@RequiresRdma
class DeviceRemovalDeviceTest {
    private static final String DEVICE = "rdmacmtest";
    private static final String INTERFACE = "rdmacmtest0";
    private static final String ADDRESS = "192.168.89.1";

    @BeforeEach
    void addDevice() throws Exception {
        Requirements.requireProgram("rdma", "iproute2");
        Assumptions.assumeTrue(OrdinaryUser.isRoot(), "adding and removing a device needs root");
        String told = run("ip link add " + INTERFACE + " type dummy && ip link set " + INTERFACE + " mtu 4200 up"
                + " && ip addr add " + ADDRESS + "/24 dev " + INTERFACE
                + " && rdma link add " + DEVICE + " type rxe netdev " + INTERFACE + " && echo added");
        Assumptions.assumeTrue(told.endsWith("added\n"), "no SoftRoCE device can be added here: " + told.strip());
    }

    @AfterEach
    void removeDevice() throws Exception {
        run("rdma link delete " + DEVICE + "; ip link delete " + INTERFACE);
    }

    private static String run(String commands) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("sh", "-c", commands).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output;
    }

    @Test
    void theProgramIsToldClosesEverythingAndUsesTheDeviceWhenItIsBack() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(RemovedDevice.class).nativeAccess().run(DEVICE, INTERFACE, ADDRESS);
        assertThat(result.status()).as(result.errors() + result.output()).isZero();
        System.out.println(result.output());
        assertThat(result.output()).contains("context: VerbsContext is closed", "last id: CmId[",
                "ProtectionDomain[").endsWith("fine\n");
        assertThat(result.output()).containsAnyOf("silent", "listener: DeviceRemovedException");
    }
}
