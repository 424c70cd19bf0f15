// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.bindings.NativeLibrary;
import io.rdmacm.examples.testing.OpenChannel;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.Requirements;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs on a machine without an RDMA device. If this machine has one, a mount namespace hides it. */
class WithoutRdmaTest {
    private static final List<String> FOLDERS = List.of("/sys/class/infiniband", "/dev/infiniband");
    private static final String HINT = " - this machine has no RDMA device (see `rdma link`); to create a software"
            + " device, run `modprobe rdma_rxe && rdma link add rxe0 type rxe netdev INTERFACE`";
    private static final String MESSAGE = "rdma_create_event_channel: ENODEV, No such device" + HINT;

    @Test
    void aProgramSaysSoInOneLine() throws Exception {
        assumeLibrary();
        Program.Result rping = run(Main.class, "rping", "-s");
        assertThat(rping.status()).isEqualTo(1);
        assertThat(rping.out()).isEmpty();
        assertThat(rping.errLines()).containsExactly("rping: " + MESSAGE);
    }

    @Test
    void theDoctorSaysWhatToDo() throws Exception {
        assumeLibrary();
        Program.Result doctor = run(Main.class, "doctor");
        assertThat(doctor.status()).isEqualTo(1);
        assertThat(doctor.outLines()).contains("  WRONG    this machine has no RDMA device")
                .anyMatch(line -> line.contains("-> ") && line.contains("rdma link add rxe0"));
        assertThat(doctor.errLines()).containsExactly("doctor: 1 thing is wrong");
    }

    @Test
    void theExceptionSaysSo() throws Exception {
        assumeLibrary();
        assertThat(run(OpenChannel.class).outLines()).containsExactly("RdmaException: " + MESSAGE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ibv_devices", "ibv_devinfo", "ibv_asyncwatch", "ibv_rc_pingpong", "efa_pingpong"})
    void theProgramsOfLibibverbsSaySo(String name) throws Exception {
        assumeLibrary();
        Assumptions.assumeFalse(Files.exists(Path.of("/sys/class/infiniband_verbs")),
                "libibverbs sees the kernel's RDMA devices also where their folders are hidden");
        Program.Result result = run(Main.class, name);
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).containsExactly(
                name + ": ibv_get_device_list: ENOSYS, Function not implemented" + HINT);
    }

    private static Program.Result run(Class<?> main, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        List<String> present = FOLDERS.stream().filter(WithoutRdmaTest::hasFiles).toList();
        if (!present.isEmpty()) {
            boolean root = "root".equals(System.getProperty("user.name"));
            Assumptions.assumeTrue(root && Requirements.isInstalled("unshare"),
                    "only root can hide the RDMA device that this machine has");
            StringBuilder hide = new StringBuilder();
            present.forEach(folder -> hide.append("mount -t tmpfs none ").append(folder).append(" && "));
            command.addAll(List.of("unshare", "-m", "sh", "-c", hide + "exec \"$@\"", "sh"));
        }
        command.addAll(Program.javaCommand(main));
        command.addAll(List.of(arguments));
        try (Program program = Program.process(new ProcessBuilder(command))) {
            return program.result();
        }
    }

    private static boolean hasFiles(String folder) {
        String[] files = new File(folder).list();
        return files != null && files.length > 0;
    }

    private static void assumeLibrary() {
        boolean installed;
        try {
            installed = NativeLibrary.LIBRDMACM.find("rdma_create_event_channel").isPresent();
        } catch (UnsatisfiedLinkError e) {
            installed = false;
        }
        Assumptions.assumeTrue(installed, "librdmacm is not installed (package librdmacm1)");
    }
}
