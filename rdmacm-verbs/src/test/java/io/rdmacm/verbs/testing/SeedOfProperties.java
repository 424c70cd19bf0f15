// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropagationMode;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;

/** {@link Seed} for the properties of jqwik, which otherwise take a new one each time, and print it when they fail. */
public final class SeedOfProperties implements AroundPropertyHook {
    /** For jqwik, which finds it as a service. */
    public SeedOfProperties() {
    }

    @Override
    public PropagationMode propagateTo() {
        return PropagationMode.ALL_DESCENDANTS;
    }

    @Override
    public PropertyExecutionResult aroundProperty(PropertyLifecycleContext context, PropertyExecutor property) {
        if (Seed.GIVEN != null) {
            context.attributes().setSeed(Seed.GIVEN.toString());
        }
        return property.execute();
    }
}
