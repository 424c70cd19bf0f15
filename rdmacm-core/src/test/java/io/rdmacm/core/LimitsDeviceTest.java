// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;

import io.rdmacm.core.forked.Limited;
import io.rdmacm.core.testing.OrdinaryUser;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.Requirements;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a user is told who may not have what the library needs; nothing is left half made. */
@RequiresRdma
class LimitsDeviceTest {
    /** In a namespace of mounts of its own, the device files as they are, but for root only. */
    private static final String WITHOUT_PERMISSION = """
            set -e
            mkdir -p /tmp/rdmacm-devices
            cp -a /dev/infiniband/. /tmp/rdmacm-devices/
            mount -t tmpfs -o mode=755 none /dev/infiniband
            mv /tmp/rdmacm-devices/* /dev/infiniband/
            rmdir /tmp/rdmacm-devices
            chmod 600 /dev/infiniband/*
            exec "$@"
            """;

    // The JVM keeps each jar of the class path open, which has those of all modules.
    private static final String FILES = "--nofile=256";

    private static OrdinaryUser user;

    @BeforeAll
    static void open() throws IOException {
        Requirements.requireProgram("prlimit", "util-linux");
        user = new OrdinaryUser();
    }

    @AfterAll
    static void close() throws IOException {
        user.close();
    }

    private static String run(ForkedJvm jvm, String what) throws Exception {
        ForkedJvm.Result result = jvm.run(what);
        assertThat(result.status()).as(result.errors() + result.output()).isZero();
        assertThat(result.output()).endsWith("fine\n");
        result.output().lines().filter(line -> line.startsWith("measured: ")).limit(4).forEach(System.out::println);
        return result.output();
    }

    @Test
    void lockedMemory() throws Exception {
        assertThat(run(user.jvm(Limited.class, "prlimit", "--memlock=65536"), "memory"))
                .contains("ibv_reg_mr", "ENOMEM", "the limit of locked memory (ulimit -l, LimitMEMLOCK)");
    }

    @Test
    void deviceFiles() throws Exception {
        Requirements.require(OrdinaryUser.isRoot(), "a test of permissions needs root, to take them away");
        String told = run(user.jvm(Limited.class, "unshare", "--mount", "sh", "-c", WITHOUT_PERMISSION, "sh"),
                "permissions");
        assertThat(told.lines().filter(line -> line.contains("no permission: is /dev/infiniband/*"))).hasSize(4);
    }

    @Test
    void openFiles() throws Exception {
        assertThat(run(user.jvm(Limited.class, "prlimit", FILES), "files"))
                .contains("event channel fails", "context fails", "manager fails");
    }

    /** Who connects meanwhile is rejected; who comes later is accepted. */
    @Test
    void openFilesWhenAConnectionIsAccepted() throws Exception {
        assertThat(run(user.jvm(Limited.class, "prlimit", FILES), "filesWhenAccepting"))
                .contains("EMFILE", "ulimit -n");
    }

    @Test
    void threads() throws Exception {
        assertThat(run(user.jvm(Limited.class, "prlimit", "--nproc=200"), "threads")).contains("ENOMEM");
    }

    @Test
    void openFilesFromTheStart() throws Exception {
        run(user.jvm(Limited.class, "prlimit", FILES), "filesAtTheStart");
    }
}
