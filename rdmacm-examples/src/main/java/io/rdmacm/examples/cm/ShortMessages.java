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

/** The messages of the programs that use the synchronous calls: one each way, short enough to be sent inline. */
final class ShortMessages {
    static final int SIZE = 16;
    /** One request per queue; every send is signaled. */
    static final EndpointAttributes ATTRIBUTES = EndpointAttributes.builder().maxSendRequests(1).maxReceiveRequests(1)
            .maxInlineData(SIZE).signalAll(true).build();

    private ShortMessages() {
    }

    /** Returns INLINE if the device supports it: the memory can then be reused as soon as the send is posted. */
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
            throw new IOException("a message of " + completion.byteLength() + " bytes arrived, not of " + SIZE);
        }
    }

    /**
     * Checks a send to a peer that disconnects as soon as it has the message. The end of the connection may be seen
     * before the acknowledgement; the send is flushed then, although the message arrived.
     */
    static void checkLastSend(WorkCompletion completion) throws IOException {
        if (completion.status() != WorkCompletionStatus.WR_FLUSH_ERR) {
            check(completion);
        }
    }

    static void check(WorkCompletion completion) throws IOException {
        if (completion.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
            throw new IOException("the peer ended the connection before the message was complete");
        }
        if (completion.status() != WorkCompletionStatus.SUCCESS) {
            throw new WorkCompletionException(completion);
        }
    }
}
