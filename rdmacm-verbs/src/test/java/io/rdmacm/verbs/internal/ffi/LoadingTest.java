// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.forked.ListDevices;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;

/** What a program is told when the library is missing, or the leave to call it: in JVMs that lack them. */
@WithFakeVerbs
class LoadingTest {
    private static final String DENY = "--illegal-native-access=deny";
    private static final String FAKE = "[fake0 (CA, IB, f254:0000:0000:0030)]";

    @Test
    void aMissingLibraryIsNamedWithWhatNeedsItAndItsPackage() throws IOException, InterruptedException {
        ForkedJvm.Result result = ForkedJvm.of(ListDevices.class).nativeAccess()
                .property("io.rdmacm.libibverbs", "libnotthere.so.1").run();

        assertThat(result.output().lines()).hasSize(2).allSatisfy(line -> assertThat(line.substring(2)).isEqualTo(
                "NativeLibraryException of libnotthere.so.1 and ibv_get_device_list: cannot load libnotthere.so.1,"
                        + " which ibv_get_device_list needs: install the Debian or Ubuntu package libibverbs1,"
                        + " elsewhere rdma-core"));
    }

    @Test
    void aLibraryThatCannotBeUsedIsNotCalledMissing(@TempDir Path folder) throws IOException, InterruptedException {
        Path library = Files.writeString(folder.resolve("libibverbs.so.1"), "not a library");
        ForkedJvm.Result result = ForkedJvm.of(ListDevices.class).nativeAccess()
                .property("io.rdmacm.libibverbs", library.toString()).run();

        assertThat(result.output().lines()).hasSize(2).allSatisfy(line -> assertThat(line.substring(2)).startsWith(
                "NativeLibraryException of " + library + " and ibv_get_device_list: cannot load " + library
                        + ", which ibv_get_device_list needs, although it is installed: ")
                .contains(library + ": file too short").doesNotContain("package"));
    }

    @Test
    void anArchitectureWithAnotherAbiIsRefused() throws IOException, InterruptedException {
        ForkedJvm.Result result = ForkedJvm.of(ListDevices.class).nativeAccess().property("os.arch", "riscv64").run();

        assertThat(result.output().lines()).describedAs(result.errors()).hasSize(2)
                .allSatisfy(line -> assertThat(line.substring(2)).startsWith("UnsupportedOperationException:"
                        + " rdmacm runs on x86-64 and aarch64, not on riscv64"));
    }

    @Test
    void deniedNativeAccessIsAnsweredWithTheFlagForTheClassPath() throws IOException, InterruptedException {
        assertTheFlagHelps("--enable-native-access=ALL-UNNAMED", ForkedJvm.of(ListDevices.class).options(DENY),
                ForkedJvm.of(ListDevices.class).options(DENY));
    }

    @Test
    void deniedNativeAccessIsAnsweredWithTheFlagForTheModulePath() throws IOException, InterruptedException {
        assertTheFlagHelps("--enable-native-access=io.rdmacm.bindings,io.rdmacm.verbs", onModulePath(),
                onModulePath());
    }

    private static ForkedJvm onModulePath() {
        return ForkedJvm.of(ListDevices.class).options(DENY).modules("io.rdmacm.verbs", Rdma.class,
                NativeObject.class, Logger.class);
    }

    private static void assertTheFlagHelps(String flag, ForkedJvm without, ForkedJvm with)
            throws IOException, InterruptedException {
        ForkedJvm.Result refused = without.run();
        assertThat(refused.output().lines()).describedAs(refused.errors()).hasSize(2)
                .allSatisfy(line -> assertThat(line.substring(2)).isEqualTo(
                        "IllegalCallerException: rdmacm may not call native code: start java with " + flag));

        ForkedJvm.Result allowed = with.options(flag).run();
        assertThat(allowed.output().lines()).describedAs(allowed.errors()).containsExactly("1 " + FAKE, "2 " + FAKE);
    }
}
