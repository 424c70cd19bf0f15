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
 * Tests of the real libefa over the stand-in for the kernel and the card ({@link FakeEfa}): skipped, with the reason,
 * where there is none. Each fails when it leaves an object behind, here or in the kernel, or the card found a malformed
 * entry.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("efa")
@ExtendWith(WithFakeEfa.Extension.class)
public @interface WithFakeEfa {
    /** What the annotation does. */
    final class Extension implements ExecutionCondition, BeforeEachCallback, AfterEachCallback {
        private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(FakeEfa.class);

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            try {
                String missing = FakeEfa.missing();
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
            Assertions.assertThat(FakeEfa.objects()).as("objects in the kernel").isZero();
            Assertions.assertThat(FakeEfa.badEntries()).as("malformed entries").isZero();
        }
    }
}
