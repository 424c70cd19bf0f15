// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;

import io.rdmacm.bindings.testing.Facts;
import io.rdmacm.bindings.testing.Processes;
import io.rdmacm.bindings.testing.UseEverything;
import org.assertj.core.api.ListAssert;
import org.junit.jupiter.api.Test;

/** A missing library, a missing function or denied native access costs the functions, and nothing else. */
class WithoutLibraryTest {
    private static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";
    private static final String NO_RDMACM = "-Dio.rdmacm.librdmacm=libdoesnotexist.so.1";
    private static final String NO_VERBS = "-Dio.rdmacm.libibverbs=/does/not/exist.so";

    @Test
    void aMissingLibraryIsNamedByEachCall() throws IOException, InterruptedException {
        String reason = " throws java.lang.UnsatisfiedLinkError: Cannot open libdoesnotexist.so.1, needed for "
                + "rdma_create_event_channel: install the package librdmacm1 (its name in Debian), or set the system "
                + "property io.rdmacm.librdmacm to the path of the library";

        assertEverythingElseWorks(NATIVE_ACCESS, NO_RDMACM, NO_VERBS)
                .contains("first call" + reason, "second call" + reason, "address" + reason)
                .anyMatch(line -> line.startsWith("verbs call throws java.lang.UnsatisfiedLinkError: Cannot open "
                        + "/does/not/exist.so, needed for ibv_fork_init: install the package libibverbs1"));
    }

    @Test
    void aMissingFunctionIsNamedByEachCall() throws IOException, InterruptedException {
        // A library that is everywhere, in the part of one that is too old.
        String reason = " throws java.lang.UnsatisfiedLinkError: libc.so.6 has no rdma_create_event_channel: it is "
                + "older than this binding, so install a newer librdmacm1 (its name in Debian)";

        assertEverythingElseWorks(NATIVE_ACCESS, "-Dio.rdmacm.librdmacm=libc.so.6", NO_VERBS)
                .contains("first call" + reason, "second call" + reason, "address" + reason)
                .contains("variadic call" + reason.replace("rdma_create_event_channel", "rfcntl"))
                .contains("variadic address" + reason.replace("rdma_create_event_channel", "rfcntl"))
                .contains("newer call throws java.lang.UnsatisfiedLinkError: libc.so.6 has no repoll_create: it is "
                        + "older than rdma-core 65 (symbol version RDMACM_1.5), so install a newer librdmacm1 (its "
                        + "name in Debian)");
    }

    @Test
    void deniedNativeAccessIsNamedByEachCall() throws IOException, InterruptedException {
        String reason = " throws java.lang.IllegalCallerException: Illegal native access from an unnamed module";

        assertEverythingElseWorks("--illegal-native-access=deny")
                .anyMatch(line -> line.startsWith("first call" + reason))
                .anyMatch(line -> line.startsWith("second call" + reason))
                .anyMatch(line -> line.startsWith("address" + reason))
                .anyMatch(line -> line.startsWith("verbs call" + reason))
                .anyMatch(line -> line.startsWith("variadic call" + reason))
                .anyMatch(line -> line.startsWith("pointer call" + reason));
    }

    private static ListAssert<String> assertEverythingElseWorks(String... options)
            throws IOException, InterruptedException {
        Processes.Result result = Processes.java(List.of(options), UseEverything.class);
        List<String> lines = result.output().lines().toList();
        assertThat(result.status()).describedAs(result.output()).isZero();
        assertThat(lines).contains("facts " + Facts.all().size(), "constant 11", "layout 16",
                "descriptor " + Rdma.rdma_create_event_channel$descriptor().toMethodType());
        assertThat(lines).anyMatch(line -> line.matches("initialised [3-9]\\d\\d"));
        return assertThat(lines);
    }
}
