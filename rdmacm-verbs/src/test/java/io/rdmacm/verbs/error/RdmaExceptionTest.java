// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Error numbers become types, names, texts and hints. */
class RdmaExceptionTest {
    @Test
    @Covers("rdma_seterrno")
    void saysTheFunctionTheNumberAndWhatItWasCalledFor() {
        RdmaException exception = Failures.of("ibv_alloc_pd", Rdma.EINVAL(), "fake0");

        assertThat(exception).isExactlyInstanceOf(RdmaException.class)
                .hasMessage("ibv_alloc_pd (fake0): EINVAL, Invalid argument");
        assertThat(exception.function()).isEqualTo("ibv_alloc_pd");
        assertThat(exception.errno()).isEqualTo(Rdma.EINVAL());
        assertThat(exception.errnoName()).isEqualTo("EINVAL");
    }

    @Test
    void typesExistWhereProgramsActDifferently() {
        assertThat(Failures.of("f", Rdma.EOPNOTSUPP())).isExactlyInstanceOf(RdmaUnsupportedException.class)
                .hasMessageStartingWith("f: EOPNOTSUPP, ");
        assertThat(Failures.of("f", Rdma.ENOSYS())).isExactlyInstanceOf(RdmaUnsupportedException.class)
                .hasMessageStartingWith("f: ENOSYS, ");
        assertThat(Failures.of("f", Rdma.ETIMEDOUT())).isExactlyInstanceOf(RdmaTimeoutException.class)
                .hasMessageStartingWith("f: ETIMEDOUT, ");
        // of the kernel, for which the C library has neither a name nor a text
        assertThat(Failures.of("f", 524)).isExactlyInstanceOf(RdmaUnsupportedException.class)
                .hasMessage("f: ENOTSUPP, Operation is not supported by the kernel");
    }

    @Test
    void anUnknownNumberIsGivenAsItIs() {
        RdmaException exception = Failures.of("ibv_alloc_pd", 99999);

        assertThat(exception).hasMessageStartingWith("ibv_alloc_pd: errno 99999, ");
        assertThat(exception.errnoName()).isEqualTo("errno 99999");
    }

    /** Libraries forget to set errno, which is 0 then. */
    @Test
    void aFailureWithoutAReasonIsNotCalledASuccess() {
        RdmaException failure = Failures.of("ibv_reg_mr", 0, "1 byte");
        assertThat(failure).hasMessage("ibv_reg_mr (1 byte): it failed without an error number");
        assertThat(failure.errno()).isZero();
    }

    @Test
    void anErrorWithoutANumberHasNoName() {
        RdmaException exception = new RdmaException("poll", "gone");

        assertThat(exception).hasMessage("gone");
        assertThat(exception.errno()).isZero();
        assertThat(exception.errnoName()).isEmpty();
    }

    @Test
    void hintsSayWhatToDo() {
        for (String function : new String[] {"ibv_reg_mr", "ibv_create_qp", "ibv_create_cq_ex", "ibv_create_srq"}) {
            assertThat(Failures.of(function, Rdma.ENOMEM())).hasMessageContaining("ulimit -l");
        }
        assertThat(Failures.of("ibv_alloc_pd", Rdma.ENOMEM()).getMessage()).doesNotContain("ulimit");
        assertThat(Failures.of("ibv_open_device", Rdma.EACCES())).hasMessageContaining("/dev/infiniband");
        assertThat(Failures.of("ibv_open_device", Rdma.EPERM())).hasMessageContaining("/dev/infiniband");
        assertThat(Failures.of("ibv_query_device", Rdma.ENOSYS()).getMessage()).doesNotContain(" - ");
        assertThat(Failures.of("ibv_create_comp_channel", Rdma.EMFILE())).hasMessageContaining("ulimit -n");
    }

    @Test
    void withoutADeviceTheHintSaysHowToMakeOne() throws IOException {
        Path devices = Path.of("/sys/class/infiniband");
        if (Files.isDirectory(devices)) {
            try (Stream<Path> files = Files.list(devices)) {
                Assumptions.assumeTrue(files.findAny().isEmpty(), "this machine has an RDMA device");
            }
        }
        assertThat(Failures.of("rdma_create_event_channel", Rdma.ENODEV()))
                .hasMessageContaining("this machine has no RDMA device").hasMessageContaining("rdma_rxe");
    }

    @Test
    void aFailedCompletionSaysWhichWorkAndWhy() throws IOException, ClassNotFoundException {
        WorkCompletion completion = new WorkCompletion(77, WorkCompletionStatus.REM_ACCESS_ERR,
                WorkCompletionOpcode.RDMA_WRITE, 0x89, 0, 0, 18, 0, 0);

        WorkCompletionException exception = new WorkCompletionException(completion);

        assertThat(exception).hasMessage("work request 77 on queue pair 18 failed: REM_ACCESS_ERR, vendor error 0x89:"
                + " the peer has no region with this key at this address, or it lacks REMOTE_READ, REMOTE_WRITE or"
                + " REMOTE_ATOMIC");
        assertThat(exception.completion()).isEqualTo(completion);
        assertThat(exception.status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        WorkCompletionException copy = serialised(exception);
        assertThat(copy.status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(copy.completion()).isNull();
    }

    @Test
    void aFailedReadSaysWhichAccessTheLocalRegionNeeds() {
        WorkCompletion completion = new WorkCompletion(77, WorkCompletionStatus.LOC_PROT_ERR,
                WorkCompletionOpcode.RDMA_READ, 0, 0, 0, 18, 0, 0);

        assertThat(new WorkCompletionException(completion)).hasMessageEndingWith("LOC_PROT_ERR, vendor error 0x0: the"
                + " memory is not registered here, or without LOCAL_WRITE, which receives and reads need");
    }

    private static WorkCompletionException serialised(WorkCompletionException exception)
            throws IOException, ClassNotFoundException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream output = new ObjectOutputStream(bytes)) {
            output.writeObject(exception);
        }
        try (ObjectInputStream input = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return (WorkCompletionException) input.readObject();
        }
    }
}
