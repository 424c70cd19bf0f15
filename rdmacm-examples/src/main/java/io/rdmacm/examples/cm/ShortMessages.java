// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.examples.support.Console;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/** The messages of the programs on the synchronous calls: one each way, short enough to travel inline. */
final class ShortMessages {
    static final int SIZE = 16;
    /** One message each way at a time; every send gives a completion. */
    static final EndpointAttributes ATTRIBUTES = EndpointAttributes.builder().maxSendRequests(1).maxReceiveRequests(1)
            .maxInlineData(SIZE).signalAll(true).build();

    private ShortMessages() {
    }

    /** Inline, where the device can: then the memory may be used again as soon as the message is posted. */
    static Set<SendFlag> flags(Endpoint endpoint, String program, Console console) {
        if (endpoint.queuePair().orElseThrow().capabilities().maxInlineData() >= SIZE) {
            return EnumSet.of(SendFlag.INLINE);
        }
        console.print(program + ": device doesn't support IBV_SEND_INLINE, using sge sends");
        return EnumSet.noneOf(SendFlag.class);
    }

    static void checkReceived(WorkCompletion completion) throws IOException {
        check(completion);
        if (completion.byteLength() != SIZE) {
            throw new IOException("a message of " + completion.byteLength() + " bytes came, not of " + SIZE);
        }
    }

    static void check(WorkCompletion completion) throws IOException {
        if (completion.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
            throw new IOException("the peer ended the connection before the message was through");
        }
        if (completion.status() != WorkCompletionStatus.SUCCESS) {
            throw new WorkCompletionException(completion);
        }
    }
}
