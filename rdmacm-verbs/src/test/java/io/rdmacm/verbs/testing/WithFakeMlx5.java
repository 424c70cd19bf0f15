// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.rdmacm.verbs.internal.life.Lifetime;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Tests of the real libmlx5 over the stand-in for the kernel and the card ({@link FakeMlx5}): skipped, with the reason,
 * where there is none. Each fails when it leaves an object behind, here or in the kernel.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("mlx5")
@ExtendWith(WithFakeMlx5.Extension.class)
public @interface WithFakeMlx5 {
    /** What the annotation does. */
    final class Extension implements ExecutionCondition, BeforeEachCallback, AfterEachCallback {
        private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(FakeMlx5.class);

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            try {
                String missing = FakeMlx5.missing();
                return missing == null ? ConditionEvaluationResult.enabled("the stand-in is preloaded")
                        : ConditionEvaluationResult.disabled(missing);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void beforeEach(ExtensionContext context) {
            context.getStore(NAMESPACE).put("open", Lifetime.openObjects());
        }

        @Override
        public void afterEach(ExtensionContext context) {
            Assertions.assertThat(Lifetime.openObjects())
                    .isEqualTo(context.getStore(NAMESPACE).get("open", Long.class));
            Assertions.assertThat(FakeMlx5.objects()).as("objects in the kernel").isZero();
        }
    }
}
