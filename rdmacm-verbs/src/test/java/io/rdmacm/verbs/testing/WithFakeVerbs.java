// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import io.rdmacm.verbs.internal.life.Lifetime;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Tests over the stand-in for libibverbs ({@link FakeVerbs}): skipped, with the reason, where it could not be built.
 * Each begins with nothing recorded, and fails when it leaves an object behind.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(WithFakeVerbs.Extension.class)
public @interface WithFakeVerbs {
    /** What the annotation does. */
    final class Extension implements ExecutionCondition, BeforeEachCallback, AfterEachCallback {
        private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(FakeVerbs.class);

        private record Objects(long open, Map<FakeVerbs.Kind, Integer> live) {
            static Objects now() {
                return new Objects(Lifetime.openObjects(), FakeVerbs.live());
            }
        }

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            String library = System.getProperty(FakeVerbs.PROPERTY);
            if (library == null) {
                return ConditionEvaluationResult.disabled("the system property " + FakeVerbs.PROPERTY
                        + " does not name the stand-in for libibverbs; the Maven build sets it");
            }
            Path path = Path.of(library);
            if (Files.exists(path)) {
                return ConditionEvaluationResult.enabled("the stand-in for libibverbs is there");
            }
            return ConditionEvaluationResult.disabled("there is no stand-in for libibverbs at " + path
                    + reason(path.resolveSibling("missing.txt")));
        }

        private static String reason(Path file) {
            try {
                return Files.exists(file) ? ": " + Files.readString(file).strip() : "";
            } catch (IOException e) {
                return ": " + e;
            }
        }

        @Override
        public void beforeEach(ExtensionContext context) {
            FakeVerbs.reset();
            context.getStore(NAMESPACE).put(Objects.class, Objects.now());
        }

        @Override
        public void afterEach(ExtensionContext context) {
            FakeVerbs.devices(1);
            Assertions.assertThat(Objects.now()).describedAs("objects left behind")
                    .isEqualTo(context.getStore(NAMESPACE).get(Objects.class, Objects.class));
        }
    }
}
