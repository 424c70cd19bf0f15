// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.util.Optional;

import io.rdmacm.verbs.error.RdmaUnsupportedException;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.TestAbortedException;

/**
 * Skips or fails the classes that are annotated with {@link RequiresRdma} if there is no device, and skips the tests
 * that an iWARP device refuses by type, with the reason of the library.
 */
final class RequiresRdmaCondition implements ExecutionCondition, BeforeAllCallback, TestExecutionExceptionHandler {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Optional<String> missing = RdmaTestDevice.missing();
        if (missing.isPresent() && !Requirements.deviceRequired()) {
            return ConditionEvaluationResult.disabled(missing.get());
        }
        if (missing.isEmpty() && RdmaTestDevice.get().isIwarp()
                && AnnotationSupport.findAnnotation(context.getRequiredTestClass(), RequiresRdma.class)
                        .filter(RequiresRdma::connectedByHand).isPresent()) {
            return ConditionEvaluationResult.disabled(
                    "the device is one of iWARP: only a connection manager connects its queue pairs");
        }
        return ConditionEvaluationResult.enabled("there is an RDMA device, or there must be one");
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        RdmaTestDevice.missing().ifPresent(reason -> {
            throw new AssertionError(reason + ", but " + Requirements.VARIABLE + "=true");
        });
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable thrown) throws Throwable {
        for (Throwable reason = thrown; reason != null; reason = reason.getCause()) {
            if (reason instanceof RdmaUnsupportedException && RdmaTestDevice.get().isIwarp()) {
                throw new TestAbortedException("the device is one of iWARP: " + reason.getMessage(), thrown);
            }
        }
        throw thrown;
    }
}
