// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import io.rdmacm.core.forked.ManyWaits;
import io.rdmacm.core.forked.WaitEverywhere;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.ModuleClasses;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Virtual threads that wait leave their carriers to others. */
@RequiresRdma
class VirtualThreadsDeviceTest {
    // -Dio.rdmacm.waits=10000 where a processor is not emulated
    private static final int THREADS = Integer.getInteger("io.rdmacm.waits", 300);

    @Test
    void noWaitKeepsTheCarrier() throws Exception {
        RdmaTestDevice.assumeNotIwarp("SoftiWARP has no extended completion queues to wait for");
        ForkedJvm.Result result = ForkedJvm.of(WaitEverywhere.class).nativeAccess()
                .property("jdk.virtualThreadScheduler.parallelism", "1")
                .property("jdk.virtualThreadScheduler.maxPoolSize", "1").run();
        assertThat(result.status()).as(result.errors() + result.output()).isZero();
        assertThat(result.output().lines()).as(result.errors()).contains("progress", "pinned: 0");
        assertThat(result.output().lines().filter(line -> line.startsWith("waited: "))
                .map(line -> line.substring("waited: ".length()))).containsExactlyInAnyOrderElementsOf(waits());
    }

    /** Who waits can be interrupted. */
    private static Set<String> waits() throws IOException {
        Set<String> waits = new TreeSet<>();
        for (List<Class<?>> classes : List.of(ModuleClasses.inPackageOf(EventChannel.class),
                ModuleClasses.exported(CompletionQueue.class))) {
            for (Class<?> type : classes) {
                Arrays.stream(type.getDeclaredMethods()).filter(VirtualThreadsDeviceTest::isPublicWait)
                        .forEach(method -> waits.add(type.getSimpleName() + "." + method.getName()));
            }
        }
        return waits;
    }

    private static boolean isPublicWait(Method method) {
        return Modifier.isPublic(method.getModifiers()) && Modifier.isPublic(method.getDeclaringClass().getModifiers())
                && Arrays.asList(method.getExceptionTypes()).contains(InterruptedException.class);
    }

    @Nightly
    @Test
    void thousandsWait() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(ManyWaits.class).nativeAccess().run(Integer.toString(THREADS));
        assertThat(result.status()).as(result.errors() + result.output()).isZero();
        result.output().lines().filter(line -> line.startsWith("measured: ")).forEach(System.out::println);
        assertThat(result.output()).endsWith("fine\n");
    }
}
