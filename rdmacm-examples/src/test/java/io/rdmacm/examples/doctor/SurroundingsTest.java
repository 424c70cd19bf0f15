// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the doctor finds in the files of a machine that is broken in one way or another. */
class SurroundingsTest {
    private static final String LIMIT = "Max locked memory         %s               8388608              bytes\n";
    private static final String CAPABILITIES = "Name:\tjava\nCapEff:\t%016x\n";

    @TempDir
    private Path root;

    /** A machine where all is well. */
    @BeforeEach
    void aMachine() throws IOException {
        Files.createDirectories(root.resolve("sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs"));
        write("sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "eth7\n");
        Files.createDirectories(root.resolve("sys/class/infiniband_verbs/uverbs0"));
        write("dev/infiniband/rdma_cm", "");
        write("dev/infiniband/uverbs0", "");
        write("proc/self/limits", LIMIT.formatted("unlimited"));
        write("proc/self/status", CAPABILITIES.formatted(0));
    }

    @Test
    void nothingIsWrong() {
        Findings findings = examine();
        assertThat(findings.lines()).contains("  ok       devices: rxe0", "  ok       " + root
                + "/dev/infiniband/rdma_cm", "  ok       " + root + "/dev/infiniband/uverbs0",
                "  ok       memory can be registered without limit");
    }

    @Test
    void theNetworkInterfacesOfADevice() throws IOException {
        assertThat(new Machine(root).interfaces("rxe0")).containsExactly("eth7");

        // iWARP
        write("sys/class/infiniband/siw0/ports/1/gids/0", "ba2a:bf22:79df:0000:0000:0000:0000:0000\n");
        write("sys/class/net/eth8/address", "ba:2a:bf:22:79:df\n");
        write("sys/class/net/eth9/address", "ba:2a:bf:22:79:00\n");
        assertThat(new Machine(root).interfaces("siw0")).containsExactly("eth8");

        // InfiniBand
        write("sys/class/infiniband/ib0/device/net/ibp1/address", "");
        assertThat(new Machine(root).interfaces("ib0")).containsExactly("ibp1");
    }

    @Test
    void noDevice() throws IOException {
        Files.delete(root.resolve("sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0"));
        for (String folder : List.of("ports/1/gid_attrs/ndevs", "ports/1/gid_attrs", "ports/1", "ports", "")) {
            Files.delete(root.resolve("sys/class/infiniband/rxe0").resolve(folder));
        }
        assertAdvice("this machine has no RDMA device", "scripts/with-rdma");
    }

    @Test
    void aModuleIsMissing() throws IOException {
        Files.delete(root.resolve("dev/infiniband/rdma_cm"));
        assertAdvice("/dev/infiniband/rdma_cm is missing", "`modprobe rdma_ucm`");
    }

    @Test
    void aContainerWithoutTheDevicesOfItsHost() throws IOException {
        write(".dockerenv", "");
        Files.delete(root.resolve("dev/infiniband/uverbs0"));
        assertAdvice("/dev/infiniband/uverbs0 is missing", "--device=/dev/infiniband/uverbs0");
    }

    @Test
    void noPermission() throws IOException {
        Path file = root.resolve("dev/infiniband/uverbs0");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));
        assumeFalse(Files.isWritable(file), "root may write every file");
        assertAdvice("/dev/infiniband/uverbs0 is not readable and writable", "chmod a+rw");
    }

    @Test
    void littleMemoryCanBeRegistered() throws IOException {
        write("proc/self/limits", LIMIT.formatted("65536"));
        assertAdvice("at most 64 KiB of memory can be registered", "ulimit -l unlimited");
        assertThat(examine().toJson()).contains("\"memlock\":65536").contains("\"level\":\"warning\"");

        // CAP_IPC_LOCK
        write("proc/self/status", CAPABILITIES.formatted(1 << 14));
        assertThat(examine().lines()).contains("  ok       memory can be registered without limit");
    }

    @Test
    void whatIsWrongDecides() {
        Findings findings = new Findings();
        findings.ok("a", "\"good\"\t\\");
        findings.warning("a", "slow", "wait");
        assertThat(findings.toJson()).isEqualTo("{\"healthy\":true,\"findings\":[{\"subject\":\"a\",\"level\":\"ok\","
                + "\"text\":\"\\\"good\\\"\\u0009\\\\\"},{\"subject\":\"a\",\"level\":\"warning\",\"text\":\"slow\","
                + "\"advice\":\"wait\"}]}");
        findings.problem("b", "broken", "mend");
        assertThat(findings.problems()).isEqualTo(1);
        assertThat(findings.toJson()).startsWith("{\"healthy\":false,");
        assertThat(findings.lines()).containsExactly("a", "  ok       \"good\"\t\\", "  warning  slow",
                "           -> wait", "b", "  WRONG    broken", "           -> mend");
    }

    private void assertAdvice(String text, String advice) {
        assertThat(examine().all()).anySatisfy(finding -> {
            assertThat(finding.text()).contains(text);
            assertThat(finding.advice()).contains(advice);
        });
    }

    private Findings examine() {
        Findings findings = new Findings();
        new Surroundings(new Machine(root), findings).examine();
        return findings;
    }

    private void write(String file, String text) throws IOException {
        Files.createDirectories(root.resolve(file).getParent());
        Files.writeString(root.resolve(file), text);
    }
}
