// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.rdmacm.bindings.testing.Facts;
import org.junit.jupiter.api.Test;

/** The functions bound are those that the libraries export and the headers declare. */
class ExportsTest {
    private static final Map<String, String> EXPORTED = exported();
    // with the release
    private static final Map<String, String> NEWER = newer();

    @Test
    void everyExportedFunctionIsBoundAndNothingElse() {
        assertThat(EXPORTED).hasSize(315);
        assertThat(Facts.functions()).containsExactlyInAnyOrderElementsOf(EXPORTED.keySet());
    }

    @Test
    void eachFunctionHasAMethodThatFitsItsDescriptor() throws ReflectiveOperationException {
        List<String> variadic = Facts.variadicFunctions().stream().map(Class::getSimpleName).toList();
        for (String function : EXPORTED.keySet()) {
            if (variadic.contains(function)) {
                continue;
            }
            FunctionDescriptor descriptor = (FunctionDescriptor) Facts.headerOf(function)
                    .getMethod(function + "$descriptor").invoke(null);
            Method method = Facts.headerOf(function)
                    .getMethod(function, descriptor.toMethodType().parameterArray());
            assertThat(method.getReturnType()).describedAs(function).isEqualTo(descriptor.toMethodType().returnType());
        }
    }

    @Test
    void aFunctionWithAVariableNumberOfArgumentsTakesAnyNumber() {
        assertThat(Facts.variadicFunctions()).containsExactly(Rdma.rfcntl.class);
        FunctionDescriptor get = Rdma.rfcntl.makeInvoker().descriptor();
        FunctionDescriptor set = Rdma.rfcntl.makeInvoker(Rdma.C_INT).descriptor();

        assertThat(get.argumentLayouts()).containsExactly(Rdma.C_INT, Rdma.C_INT);
        assertThat(set.argumentLayouts()).containsExactly(Rdma.C_INT, Rdma.C_INT, Rdma.C_INT);
    }

    @Test
    void onlyFunctionsThatCameAfter44AreOptional() {
        assertThat(EXPORTED.keySet()).allSatisfy(function ->
                assertThat(NativeLibrary.since(function).map(since -> since.replaceAll("rdma-core (\\d+).*", "$1"))
                        .orElse(null)).isEqualTo(NEWER.get(function)));
    }

    @Test
    void eachFunctionIsSoughtInTheLibraryThatExportsIt() {
        assertThat(EXPORTED).allSatisfy(
                (function, soname) -> assertThat(NativeLibrary.of(function).soname()).isEqualTo(soname));
    }

    @Test
    void eachFunctionIsFoundInTheInstalledLibrariesUnlessTheyAreOlder() {
        for (NativeLibrary library : NativeLibrary.values()) {
            assumeTrue(isInstalled(library), library.soname() + " is not installed (Debian package "
                    + library.debianPackage() + ")");
        }
        int release = Integer.parseInt(NativeLibrary.LIBIBVERBS.release().orElseThrow().replaceAll("\\..*", ""));

        assertThat(NativeLibrary.values()).extracting(NativeLibrary::release)
                .containsOnly(NativeLibrary.LIBIBVERBS.release());
        assertThat(EXPORTED.keySet()).allSatisfy(function ->
                assertThat(NativeLibrary.of(function).find(function).isPresent())
                        .isEqualTo(release >= Integer.parseInt(NEWER.getOrDefault(function, "44"))));
    }

    @Test
    void thereAreNoKernelTwinsOfTheConstants() {
        List<String> names = Arrays.stream(Rdma.class.getMethods()).map(Method::getName).toList();

        assertThat(names).noneMatch(name -> name.startsWith("IB_UVERBS_"))
                .contains("IBV_ACCESS_OPTIONAL_FIRST", "IBV_FLOW_ACTION_ESP_FLAGS_TUNNEL");
    }

    private static boolean isInstalled(NativeLibrary library) {
        try {
            library.find("any");
            return true;
        } catch (UnsatisfiedLinkError e) {
            return false;
        }
    }

    private static Map<String, String> exported() {
        return lines().stream().collect(Collectors.toMap(fields -> fields[1], fields -> fields[0]));
    }

    private static Map<String, String> newer() {
        return lines().stream().filter(fields -> fields.length > 2)
                .collect(Collectors.toMap(fields -> fields[1], fields -> fields[2]));
    }

    private static List<String[]> lines() {
        try (InputStream file = ExportsTest.class.getResourceAsStream("exported-functions.txt")) {
            return new String(file.readAllBytes(), StandardCharsets.US_ASCII).lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split(" "))
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
