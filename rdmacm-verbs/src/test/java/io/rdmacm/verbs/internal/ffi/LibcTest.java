// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.rdmacm.verbs.error.RdmaException;
import org.junit.jupiter.api.Test;

/** Files of the C library: what they are opened as, by what the kernel says of them. */
class LibcTest {
    private static final int O_NONBLOCK = 0x800;
    private static final int O_CLOEXEC = 0x80000;
    private static final String FLAGS = "flags:";

    private static int flags(int file) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/fdinfo/" + file)).stream()
                .filter(line -> line.startsWith(FLAGS)).findFirst()
                .map(line -> Integer.parseInt(line.substring(FLAGS.length()).strip(), 8)).orElseThrow();
    }

    @Test
    void anEventCounterNeverWaitsAndIsNotInherited() throws Exception {
        int file = Libc.eventfd();
        try {
            assertThat(flags(file) & (O_NONBLOCK | O_CLOEXEC)).isEqualTo(O_NONBLOCK | O_CLOEXEC);
        } finally {
            Libc.close(file);
        }
    }

    @Test
    void aDuplicateIsAnotherNumberThatIsNotInherited() throws Exception {
        int file = Libc.eventfd();
        int duplicate = Libc.duplicate(file);
        try {
            assertThat(duplicate).isPositive().isNotEqualTo(file);
            assertThat(flags(duplicate) & O_CLOEXEC).isEqualTo(O_CLOEXEC);
        } finally {
            Libc.close(duplicate);
            Libc.close(file);
        }
    }

    @Test
    void aFileBecomesNonBlockingAndKeepsItsOtherFlags() throws Exception {
        try (OpenFile file = OpenFile.of(Path.of("/dev/null"))) {
            int before = flags(file.fd());
            assertThat(before & O_NONBLOCK).isZero();
            Libc.makeNonBlocking(file.fd());
            assertThat(flags(file.fd())).isEqualTo(before | O_NONBLOCK);
        }
    }

    @Test
    void aFileThatIsNotOpenIsReported() {
        assertThatThrownBy(() -> Libc.duplicate(-1)).isInstanceOf(RdmaException.class)
                .hasMessage("fcntl: EBADF, Bad file descriptor");
        assertThatThrownBy(() -> Libc.makeNonBlocking(-1)).isInstanceOf(RdmaException.class)
                .hasMessage("fcntl: EBADF, Bad file descriptor");
    }
}
