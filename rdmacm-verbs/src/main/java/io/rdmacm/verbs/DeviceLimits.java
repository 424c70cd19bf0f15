// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.StringJoiner;
import java.util.function.BiConsumer;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.SharedReceiveQueueAttributes;

/**
 * Explains why an object was refused: names the requested sizes that exceed the limits of the device, where C reports
 * only EINVAL or ENOMEM.
 */
final class DeviceLimits {
    private final StringJoiner beyond = new StringJoiner(", ", "the device has at most ", "").setEmptyValue("");
    // what may be too much, although the device tells no limit of it
    private String suspect = "";

    private DeviceLimits() {
    }

    static RdmaException explain(RdmaException refusal, VerbsContext context, QueuePairInitAttributes wanted) {
        QueuePairCapabilities sizes = wanted.capabilities();
        return explain(refusal, context, wanted.type() + ", " + sizes, (limits, device) -> {
            limits.check("send requests", sizes.maxSendRequests(), device.maxQueuePairRequests());
            limits.check("receive requests", sizes.maxReceiveRequests(), device.maxQueuePairRequests());
            limits.check("scatter/gather entries", Math.max(sizes.maxSendScatterGather(),
                    sizes.maxReceiveScatterGather()), device.maxScatterGather());
            if (sizes.maxInlineData() > 0 && refusal.errno() == Rdma.EINVAL()) {
                limits.suspect = "maxInlineData may be too large, for which the device tells no limit";
            }
        });
    }

    static RdmaException explain(RdmaException refusal, VerbsContext context, SharedReceiveQueueAttributes wanted) {
        return explain(refusal, context, wanted.toString(), (limits, device) -> {
            limits.check("requests", wanted.maxRequests(), device.maxSharedReceiveRequests());
            limits.check("scatter/gather entries", wanted.maxScatterGather(), device.maxSharedReceiveScatterGather());
        });
    }

    static RdmaException explain(RdmaException refusal, VerbsContext context, int entries) {
        return explain(refusal, context, entries + " entries", (limits, device) ->
                limits.check("entries", entries, device.maxCompletionQueueEntries()));
    }

    private static RdmaException explain(RdmaException refusal, VerbsContext context, String wanted,
            BiConsumer<DeviceLimits, DeviceAttributes> comparison) {
        if (refusal.errno() == 0 || refusal instanceof RdmaUnsupportedException) {
            return refusal;
        }
        DeviceLimits limits = new DeviceLimits();
        try {
            comparison.accept(limits, context.queryDevice());
        } catch (RdmaException e) {
            // without the limits there is nothing to add to the original failure
            refusal.addSuppressed(e);
            return refusal;
        }
        String cause = limits.beyond.length() > 0 ? limits.beyond.toString() : limits.suspect;
        if (cause.isEmpty()) {
            return refusal;
        }
        RdmaException explained = Failures.of(refusal.function(), refusal.errno(), wanted + "; " + cause);
        explained.initCause(refusal);
        return explained;
    }

    private void check(String what, int wanted, int most) {
        // 0: the driver does not report this limit
        if (most > 0 && wanted > most) {
            beyond.add(most + " " + what);
        }
    }
}
