// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;

import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.MemoryRange;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.OdpCapability;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.CompletionField;
import io.rdmacm.verbs.work.MemoryAdvice;
import io.rdmacm.verbs.work.SendOperation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code ibv_rc_pingpong}, as ibv_rc_pingpong(1): sends messages back and forth over a reliable connection.
 * The buffer can be in any kind of memory that the device supports, and requests and completions can use the classic or
 * the extended interface.
 */
@Command(name = "ibv_rc_pingpong", header = "Ping-pong over a reliable connection.",
        description = "Sends messages back and forth, and prints how long that took.",
        footer = {"%nFor example, a server, and a client on another machine, with GID 1 of their ports:",
            "  rdmacm ibv_rc_pingpong -g 1 -c", "  rdmacm ibv_rc_pingpong -g 1 -c 192.168.99.1"})
final class IbvRcPingpong extends ConnectedPingPong {
    @Option(names = {"-o", "--odp"}, description = "Register the buffer with on-demand paging.")
    private boolean paging;

    @Option(names = {"-O", "--iodp"}, description = "Register all memory with on-demand paging.")
    private boolean implicitPaging;

    @Option(names = {"-P", "--prefetch"}, description = "Prefetch the pages of the buffer; with -o or -O.")
    private boolean prefetch;

    @Option(names = {"-t", "--ts"}, description = "Print the times between receives, by the device's clock.")
    private boolean timestamps;

    @Option(names = {"-j", "--dm"}, description = "Place the buffer in device memory.")
    private boolean inDeviceMemory;

    @Option(names = {"-N", "--new_send"}, description = "Send with the extended interface (ibv_wr_start).")
    private boolean batches;

    @Option(names = {"-U", "--allow-cc-unprotected"},
            description = "Place the buffer in memory that a confidential guest shares. Always refused: it needs"
                    + " rdma-core 64, and this library is made for 44.")
    private boolean unprotected;

    // null unless the buffer is there
    private DeviceMemory onDevice;

    @Override
    void checkOptions() {
        super.checkOptions();
        paging |= implicitPaging;
        require(!paging || !inDeviceMemory, "DM memory region can't be on demand");
        require(paging || !prefetch, "prefetch is valid only with on-demand memory region");
        require(!unprotected, "-U needs ibv_alloc_buf of rdma-core 64, this library is made for 44");
    }

    @Override
    void requireSupport(VerbsContext context) throws IOException {
        DeviceAttributesEx attributes = context.queryDeviceEx();
        if (paging) {
            requirePaging(context, Set.of(OdpCapability.SEND, OdpCapability.RECV), "send and receive");
        }
        if (implicitPaging && !attributes.onDemandPaging().implicit()) {
            throw new IOException("The device doesn't support implicit ODP");
        }
        if (timestamps && attributes.completionTimestampMask() == 0) {
            throw new IOException("The device isn't completion timestamp capable");
        }
        if (inDeviceMemory && attributes.maxDeviceMemory() == 0) {
            throw new IOException("Device doesn't support dm allocation");
        }
    }

    @Override
    CompletionQueue createQueue(VerbsContext context, CompletionChannel channel, int capacity) throws IOException {
        return timestamps ? context.createExtendedCompletionQueue(CompletionQueueInitAttributes.builder(capacity)
                .channel(channel).fields(CompletionField.COMPLETION_TIMESTAMP).build())
                : super.createQueue(context, channel, capacity);
    }

    @Override
    MemoryRegion register(ProtectionDomain domain, MemorySegment data, Resources open) throws IOException {
        if (inDeviceMemory) {
            onDevice = open.add(domain.context().allocateDeviceMemory(size, 0));
            onDevice.copyFrom(0, data);
            return open.add(domain.register(onDevice, 0, size, AccessFlag.LOCAL_WRITE, AccessFlag.ZERO_BASED));
        }
        if (!paging) {
            return super.register(domain, data, open);
        }
        MemoryRegion buffer = open.add(implicitPaging
                ? open.add(domain.registerAllMemory(AccessFlag.LOCAL_WRITE)).part(data)
                : domain.register(data, AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND));
        if (prefetch) {
            prefetch(buffer);
        }
        return buffer;
    }

    private void prefetch(MemoryRegion buffer) {
        try {
            buffer.protectionDomain().advise(MemoryAdvice.PREFETCH_WRITE, true, new MemoryRange(buffer, 0, size));
        } catch (RdmaException e) {
            report("Couldn't prefetch MR(" + e.errno() + "). Continue anyway");
        }
    }

    @Override
    QueuePair create(ProtectionDomain domain, QueuePairInitAttributes.Builder attributes) throws IOException {
        return super.create(domain, batches ? attributes.sendOperations(List.of(SendOperation.SEND)) : attributes);
    }

    @Override
    PingPong.Send sender(List<QueuePair> pairs, List<Destination> peers, MemoryRegion buffer, Resources open)
            throws IOException {
        QueuePair pair = pairs.getFirst();
        boolean inline = !inDeviceMemory && size <= pair.capabilities().maxInlineData();
        if (!batches) {
            SendRequest send = SendRequests.allocate(1, 1).get(0).id(PingPong.SEND).send().data(buffer, 0, size)
                    .inline(inline);
            return only -> pair.postSend(send);
        }
        return only -> {
            try (SendBatch batch = pair.startBatch()) {
                batch.id(PingPong.SEND).inline(inline).send();
                if (inline) {
                    batch.inlineData(buffer, 0, size);
                } else {
                    batch.data(buffer, 0, size);
                }
                batch.complete();
            }
        };
    }

    @Override
    void unload(MemorySegment message) throws IOException {
        if (inDeviceMemory) {
            onDevice.copyTo(0, message);
        }
    }
}
