// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.util.Optional;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** What {@link RequiresRdma} does. */
final class RequiresRdmaCondition implements ExecutionCondition, BeforeAllCallback, BeforeEachCallback {
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
        failWithoutDevice();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        failWithoutDevice();
    }

    private static void failWithoutDevice() {
        RdmaTestDevice.missing().ifPresent(reason -> {
            throw new AssertionError(reason + ", but " + Requirements.VARIABLE + "=true");
        });
    }
}
