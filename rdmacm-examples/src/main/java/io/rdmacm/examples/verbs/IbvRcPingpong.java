// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.ImplicitMemoryRegion;
import io.rdmacm.verbs.MemoryRange;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.OdpCapability;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairTransitions.Rc;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.CompletionField;
import io.rdmacm.verbs.work.MemoryAdvice;
import io.rdmacm.verbs.work.SendOperation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command {@code ibv_rc_pingpong}, as ibv_rc_pingpong(1): sends messages back and forth over a reliable connection.
 * The buffer can be in any kind of memory that the device supports, and requests and completions can use the classic or
 * the extended interface.
 */
@Command(name = "ibv_rc_pingpong", sortOptions = false, header = "Ping-pong over a reliable connection.",
        description = "Sends messages back and forth, and prints how long that took.",
        footer = {"%nFor example, a server, and a client on another machine, with GID 1 of their ports:",
            "  rdmacm ibv_rc_pingpong -g 1 -c", "  rdmacm ibv_rc_pingpong -g 1 -c 192.168.99.1"})
public final class IbvRcPingpong implements Callable<Integer> {

    @Mixin
    private ConnectedOptions options;

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

    /** Created by picocli. */
    public IbvRcPingpong() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        options.check();
        paging |= implicitPaging;
        options.require(!paging || !inDeviceMemory, "DM memory region can't be on demand");
        options.require(paging || !prefetch, "prefetch is valid only with on-demand memory region");
        options.require(!unprotected, "-U needs ibv_alloc_buf of rdma-core 64, this library is made for 44");
        try (VerbsContext context = options.openDevice()) {
            requireSupport(context.queryDeviceEx());
            run(context);
        }
        return 0;
    }

    private void requireSupport(DeviceAttributesEx attributes) throws IOException {
        if (paging && !(attributes.onDemandPaging().supported()
                && attributes.onDemandPaging().rc().containsAll(Set.of(OdpCapability.SEND, OdpCapability.RECV)))) {
            throw new IOException("The device isn't ODP capable or does not support RC send and receive with ODP");
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

    private void run(VerbsContext context) throws IOException, InterruptedException {
        int depth = options.depth();
        int size = options.size();
        MemorySegment data = Arena.ofAuto().allocate(size, PageMarks.pageSize());
        PageMarks.erase(data);
        try (CompletionChannel channel = options.createChannel(context);
                CompletionQueue queue = createQueue(context, channel);
                ProtectionDomain domain = context.allocateProtectionDomain();
                DeviceMemory onDevice = inDeviceMemory ? context.allocateDeviceMemory(size, 0) : null;
                ImplicitMemoryRegion everything = implicitPaging ? domain.registerAllMemory(AccessFlag.LOCAL_WRITE)
                        : null;
                MemoryRegion buffer = register(domain, data, onDevice, everything);
                QueuePair pair = domain.createQueuePair(QueuePairInitAttributes.builder().completionQueue(queue)
                        .maxSendRequests(1).maxReceiveRequests(depth)
                        .sendOperations(batches ? List.of(SendOperation.SEND) : List.of()).build())) {
            if (prefetch) {
                prefetch(buffer);
            }
            pair.modify(Rc.resetToInit(options.devicePort(), 0));
            ReceiveRequests receives = PingPong.receives(depth, buffer, size);
            // The peer may send as soon as it has our address.
            pair.postReceive(receives, 0, depth);
            Destination own = options.destination(pair);
            new Exchange(options, 1).run(List.of(own), peers -> {
                Destination peer = peers.getFirst();
                pair.modify(Rc.initToRtr(options.pathTo(peer), options.mtu(), peer.queuePair(), peer.packetNumber(), 1,
                        ConnectedOptions.RNR_TIMER));
                pair.modify(Rc.rtrToRts(own.packetNumber(), ConnectedOptions.TIMEOUT, ConnectedOptions.RETRIES,
                        ConnectedOptions.RETRIES, 1));
            });

            if (options.marksData()) {
                PageMarks.write(data);
            }
            if (onDevice != null) {
                onDevice.copyFrom(0, data);
            }
            new PingPong(options, queue, List.of(pair), count -> pair.postReceive(receives, 0, count),
                    sender(pair, buffer, data)).run(size);
            if (onDevice != null) {
                onDevice.copyTo(0, data);
            }
            if (options.checksData()) {
                PageMarks.check(data);
            }
        }
    }

    private CompletionQueue createQueue(VerbsContext context, CompletionChannel channel) throws IOException {
        int capacity = options.depth() + 1;
        if (!timestamps) {
            return options.createQueue(context, channel, capacity);
        }
        return context.createExtendedCompletionQueue(CompletionQueueInitAttributes.builder(capacity).channel(channel)
                .fields(CompletionField.COMPLETION_TIMESTAMP).build());
    }

    private MemoryRegion register(ProtectionDomain domain, MemorySegment data, DeviceMemory onDevice,
            ImplicitMemoryRegion everything) throws IOException {
        if (onDevice != null) {
            return domain.register(onDevice, 0, data.byteSize(), AccessFlag.LOCAL_WRITE, AccessFlag.ZERO_BASED);
        }
        if (everything != null) {
            return everything.part(data);
        }
        return paging ? domain.register(data, AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND)
                : domain.register(data, AccessFlag.LOCAL_WRITE);
    }

    private void prefetch(MemoryRegion buffer) {
        try {
            buffer.protectionDomain().advise(MemoryAdvice.PREFETCH_WRITE, true,
                    new MemoryRange(buffer, 0, options.size()));
        } catch (RdmaException e) {
            options.report("Couldn't prefetch MR(" + e.errno() + "). Continue anyway");
        }
    }

    /** Returns how to send. Short messages are sent inline, so that the device need not read them from the buffer. */
    private PingPong.Send sender(QueuePair pair, MemoryRegion buffer, MemorySegment data) {
        int size = options.size();
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
}
