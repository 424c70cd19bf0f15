// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.time.Duration;
import java.util.Objects;
import java.util.stream.Collectors;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * When all tests of a class are over, as much is in use as before them: of files, native objects, and objects of the
 * kernel. For a static field with RegisterExtension.
 */
public final class LeavesNothing implements BeforeAllCallback, AfterAllCallback {
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final Duration SOON = Duration.ofSeconds(20);

    private final Background.Action warmUp;
    private ResourceCounts before;

    private LeavesNothing(Background.Action warmUp) {
        this.warmUp = warmUp;
    }

    /** Nothing is opened once and kept. */
    public static LeavesNothing behind() {
        return behindAfter(() -> { });
    }

    /**
     * The counts begin when what is opened once and kept is open.
     *
     * @param warmUp opens it
     */
    public static LeavesNothing behindAfter(Background.Action warmUp) {
        return new LeavesNothing(warmUp);
    }

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        warmUp.run();
        before = ResourceCounts.now();
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        ResourceCounts after = ResourceCounts.await(before, SOON);
        if (!after.equals(before)) {
            // The protection domain of librdmacm itself is freed with the last id, but not if a list of devices was
            // freed after it, as it may be when contexts are in use to the end. Then the next last id frees it.
            warmUp.run();
            after = ResourceCounts.await(before, LIMIT);
        }
        if (!after.equals(before)) {
            throw new AssertionError(before + " before, " + after + " after: " + left(after));
        }
    }

    /** Whose objects of the kernel there are more of now. */
    private String left(ResourceCounts after) {
        return after.kernel().keySet().stream()
                .filter(kind -> !Objects.equals(after.kernel().get(kind), before.kernel().get(kind)))
                .map(ResourceCounts::list).collect(Collectors.joining());
    }
}
