// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.zip.CRC32;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.Endpoint;
import io.rdmacm.core.EndpointAttributes;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/**
 * The other side of a transfer. The arguments: how many bytes, and how they go: {@code send}, {@code write} or
 * {@code read}. It says its port, then the address and key of its memory, and at the end the checksum of what has
 * arrived. With {@code read} the memory is full from the beginning. With {@code write} and {@code read} it waits to be
 * told that all was moved.
 */
final class Server implements Role {
    static final Duration TIMEOUT = Duration.ofMinutes(10);
    static final int CHUNK = 65536;
    static final int WINDOW = 16;
    private static final long SEED = 42;

    static EndpointAttributes attributes() {
        return EndpointAttributes.builder().maxSendRequests(WINDOW).maxReceiveRequests(2 * WINDOW).build();
    }

    /** As good as random, and the same on both hosts. */
    static void fill(MemorySegment memory) {
        SplittableRandom random = new SplittableRandom(SEED);
        for (long i = 0; i < memory.byteSize(); i += Long.BYTES) {
            memory.set(ValueLayout.JAVA_LONG, i, random.nextLong());
        }
    }

    static long checksum(MemorySegment memory) {
        CRC32 sum = new CRC32();
        sum.update(memory.asByteBuffer());
        return sum.getValue();
    }

    @Override
    public void play(Line line, String... arguments) throws Exception {
        int bytes = Integer.parseInt(arguments[0]);
        String way = arguments[1];
        try (Arena arena = Arena.ofShared();
                Endpoint listener = Endpoint.createPassive(OtherHost.here(), PortSpace.TCP, attributes())) {
            MemorySegment memory = arena.allocate(bytes, 4096);
            if (way.equals("read")) {
                fill(memory);
            }
            listener.listen(4);
            line.say(listener.localAddress().getPort());
            try (Endpoint endpoint = listener.getRequest(TIMEOUT)) {
                ProtectionDomain domain = endpoint.protectionDomain();
                MemoryRegion region = domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                        AccessFlag.REMOTE_READ);
                try (region) {
                    int posted = 0;
                    while (way.equals("send") && posted < Math.min(bytes / CHUNK, 2 * WINDOW)) {
                        postReceive(endpoint, region, posted++);
                    }
                    endpoint.accept(ConnectionParameters.defaults(), TIMEOUT);
                    line.say(region.remoteAddress());
                    line.say(region.remoteKey());
                    if (way.equals("send")) {
                        receive(endpoint, region, posted, bytes / CHUNK);
                    } else if (line.hear() == null) {
                        return;
                    }
                    line.say(checksum(memory));
                    line.hear();
                }
            }
        }
    }

    private static void receive(Endpoint endpoint, MemoryRegion region, int alreadyPosted, int count)
            throws Exception {
        int posted = alreadyPosted;
        for (int i = 0; i < count; i++) {
            WorkCompletion completion = endpoint.getReceiveCompletion(TIMEOUT);
            if (completion.status() != WorkCompletionStatus.SUCCESS || completion.workRequestId() != i) {
                throw new AssertionError(completion);
            }
            if (posted < count) {
                postReceive(endpoint, region, posted++);
            }
        }
    }

    private static void postReceive(Endpoint endpoint, MemoryRegion region, int chunk) throws RdmaException {
        endpoint.postReceive(chunk, region, (long) chunk * CHUNK, CHUNK);
    }
}
