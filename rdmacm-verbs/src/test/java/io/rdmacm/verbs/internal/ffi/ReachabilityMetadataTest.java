// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.rdmacm.bindings.NativeLibrary;
import io.rdmacm.verbs.internal.driver.DriverCall;
import io.rdmacm.verbs.testing.ForeignCalls;
import io.rdmacm.verbs.testing.ModuleClasses;
import org.junit.jupiter.api.Test;

/**
 * What GraalVM's native-image has to be told about calls into and from native code is in the jars, all of it.
 *
 * <p>{@code -Dtest=ReachabilityMetadataTest -Dtest.argLine=-Dio.rdmacm.writeMetadata=true} writes the files anew.
 */
class ReachabilityMetadataTest {
    private static final List<String> LINKING = List.of("downcallHandle", "upcallStub");
    private static final String REFLECTION = """
              "reflection": [
                {"type": "io.rdmacm.verbs.VerbsAccessor"},
                {"type": "io.rdmacm.verbs.internal.ffi.AllocatorCalls", "methods": [
                  {"name": "onAllocate", "parameterTypes": ["long", "long", "long", "long", "long"]},
                  {"name": "onFree", "parameterTypes": ["long", "long", "long", "long"]}
                ]}
              ],
            """;

    @Test
    void ofTheHandlesThatAllFunctionsShare() throws IOException {
        ForeignCalls calls = new ForeignCalls();
        calls.downcall(Downcalls.type(Downcalls.ARGUMENTS), "\"firstVariadicArg\": 1, \"captureCallState\": true");
        for (int arguments : new int[] {DriverCall.FEW, DriverCall.MOST}) {
            calls.downcall(Downcalls.type(arguments));
            calls.downcall(Downcalls.type(arguments), "\"critical\": {\"allowHeapAccess\": false}");
        }
        calls.upcall(AllocatorCalls.ALLOCATE);
        calls.upcall(AllocatorCalls.FREE);

        assertThatTheFileHas("rdmacm-verbs", "{\n" + REFLECTION + calls.toJson() + "}\n");
    }

    @Test
    void nothingElseLinks() throws IOException {
        assertThat(ForeignCalls.callers(Downcalls.class, Linker.class, LINKING))
                .containsExactlyInAnyOrder(Downcalls.class.getName(), AllocatorCalls.class.getName());
        assertThat(ForeignCalls.callers(Downcalls.class, Downcalls.class, List.of("plain")))
                .containsExactly(DriverCall.class.getName());
        assertThat(ForeignCalls.callers(NativeLibrary.class, Linker.class, List.of("downcallHandle")))
                .containsExactly(NativeLibrary.class.getName());
    }

    @Test
    void ofTheGeneratedBindings() throws Exception {
        // Their descriptors need no library, and the real librdmacm would load the real libibverbs beside the stand-in.
        String library = System.setProperty("io.rdmacm.librdmacm", "librdmacm-beside-a-stand-in.so.1");
        try {
            assertThatTheFileHas("rdmacm-bindings-gen", "{\n" + generated().toJson() + "}\n");
        } finally {
            if (library == null) {
                System.clearProperty("io.rdmacm.librdmacm");
            } else {
                System.setProperty("io.rdmacm.librdmacm", library);
            }
        }
    }

    private static ForeignCalls generated() throws Exception {
        ForeignCalls calls = new ForeignCalls();
        for (Class<?> type : ModuleClasses.all(NativeLibrary.class)) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getType() == FunctionDescriptor.class && Modifier.isStatic(field.getModifiers())) {
                    field.setAccessible(true);
                    add(calls, field.getName(), (FunctionDescriptor) field.get(null));
                }
            }
        }
        return calls;
    }

    private static void add(ForeignCalls calls, String field, FunctionDescriptor type) {
        switch (field) {
            case "DESC" -> calls.downcall(type);
            // a function pointer: it can be called, and made
            case "$DESC" -> {
                calls.downcall(type);
                calls.upcall(type);
            }
            // a variadic function: what is behind the dots is an int, a long or nothing
            case "BASE_DESC" -> {
                String options = "\"firstVariadicArg\": " + type.argumentLayouts().size();
                calls.downcall(type, options);
                calls.downcall(type.appendArgumentLayouts(ValueLayout.JAVA_INT), options);
                calls.downcall(type.appendArgumentLayouts(ValueLayout.JAVA_LONG), options);
            }
            default -> throw new AssertionError("what does " + field + " describe?");
        }
    }

    private static void assertThatTheFileHas(String module, String wanted) throws IOException {
        Path file = Path.of("..", module, "src", "main", "resources", "META-INF", "native-image", "io.rdmacm", module,
                "reachability-metadata.json");
        if (Boolean.getBoolean("io.rdmacm.writeMetadata")) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, wanted);
        }
        assertThat(file).describedAs("it is stale: write it anew with -Dtest=ReachabilityMetadataTest "
                + "-Dtest.argLine=-Dio.rdmacm.writeMetadata=true").hasContent(wanted);
    }
}
