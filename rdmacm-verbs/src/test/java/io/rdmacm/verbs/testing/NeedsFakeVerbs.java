// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.nio.file.Files;
import java.nio.file.Path;

import net.jqwik.api.lifecycle.LifecycleContext;
import net.jqwik.api.lifecycle.SkipExecutionHook;

/** Properties over the stand-in for libibverbs: skipped, with the reason, where it could not be built. */
public final class NeedsFakeVerbs implements SkipExecutionHook {
    @Override
    public SkipResult shouldBeSkipped(LifecycleContext context) {
        String library = System.getProperty(FakeVerbs.PROPERTY);
        return library != null && Files.exists(Path.of(library))
                ? SkipResult.doNotSkip()
                : SkipResult.skip("there is no stand-in for libibverbs at " + library);
    }
}
