// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;

import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.ResourceCounts;

/** Checks that programs that run in this JVM release everything that they acquire. */
public final class Leaks {
    private static final int TIMES = 5;

    private Leaks() {
    }

    /** Starts programs and waits for their end. */
    @FunctionalInterface
    public interface Run {
        /** Runs them. */
        void run() throws Exception;
    }

    /** Runs programs several times and checks that file descriptors, native objects and kernel objects do not grow. */
    public static void assertNone(Run run) throws Exception {
        // The first runs load what then stays: libraries, the device of librdmacm, threads and selectors of the JDK.
        long objects = ResourceCounts.now().objects();
        run.run();
        run.run();
        freeWhatTheLibraryKeeps();
        ResourceCounts settled = ResourceCounts.await(counts -> counts.objects() == objects, Program.LIMIT);
        assertThat(settled.objects()).isEqualTo(objects);
        for (int i = 0; i < TIMES; i++) {
            run.run();
        }
        freeWhatTheLibraryKeeps();
        ResourceCounts left = ResourceCounts.await(counts -> isNoMore(counts, settled), Program.LIMIT);
        assertThat(isNoMore(left, settled)).as(() -> left + " after " + settled).isTrue();
    }

    // There may be fewer: the kernel frees what a killed process had a little later.
    private static boolean isNoMore(ResourceCounts counts, ResourceCounts settled) {
        return counts.files() <= settled.files() && counts.objects() <= settled.objects() && counts.kernel().entrySet()
                .stream().allMatch(count -> count.getValue() <= settled.kernel().getOrDefault(count.getKey(), 0));
    }

    /**
     * librdmacm frees its own protection domain of a device when the last id on the device is destroyed. If another
     * object on the device outlives that id, the domain stays until the next id is destroyed.
     */
    private static void freeWhatTheLibraryKeeps() throws RdmaException {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.bindAddress(new InetSocketAddress(Addresses.of(false), 0));
        }
    }
}
