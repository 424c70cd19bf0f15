// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.util.Optional;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips or fails the classes that are annotated with {@link RequiresRdma} if there is no device. */
final class RequiresRdmaCondition implements ExecutionCondition, BeforeAllCallback {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Optional<String> missing = RdmaTestDevice.missing();
        if (missing.isPresent() && !Requirements.deviceRequired()) {
            return ConditionEvaluationResult.disabled(missing.get());
        }
        return ConditionEvaluationResult.enabled("there is an RDMA device, or there must be one");
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        RdmaTestDevice.missing().ifPresent(reason -> {
            throw new AssertionError(reason + ", but " + Requirements.VARIABLE + "=true");
        });
    }
}
