// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.nio.ByteBuffer;

import io.rdmacm.bench.device.measure.MessageEnd;
import org.openucx.jucx.UcxUtils;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpRequestParams;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * Tagged messages of UCX from and into registered memory; the program calls {@code UcpWorker.progress()}, and receives
 * are posted before the messages arrive.
 *
 * <p>A resource, compiled by {@code Jucx} when the benchmark runs.
 */
public final class JucxEnd implements MessageEnd {
    private static final long TAG = 1;
    private static final long ALL_BITS = -1;
    private static final int SMALL = 64;
    private static final long SETTLING_NANOS = 300_000_000;

    private final int size;
    private final Runnable idle;
    private final UcpContext context;
    private final UcpWorker worker;
    private final UcpMemory memory;
    private final UcpRequestParams registered;
    // the receive buffers, then the send buffers
    private final ByteBuffer buffer;
    private final long start;
    private final UcpRequest[] receives;
    private final UcpRequest[] sends;
    private UcpEndpoint endpoint;
    private int next;

    /** Prepares an end. */
    public JucxEnd(int size, int depth, int receives, Runnable idle) {
        this.size = size;
        this.idle = idle;
        this.receives = new UcpRequest[receives];
        this.sends = new UcpRequest[depth];
        context = new UcpContext(new UcpParams().requestTagFeature());
        worker = context.newWorker(new UcpWorkerParams());
        buffer = ByteBuffer.allocateDirect((receives + depth) * size);
        start = UcxUtils.getAddress(buffer);
        memory = context.registerMemory(buffer);
        registered = new UcpRequestParams().setMemoryHandle(memory);
    }

    @Override
    public byte[] address() {
        ByteBuffer address = worker.getAddress();
        byte[] bytes = new byte[address.remaining()];
        address.duplicate().get(bytes);
        return bytes;
    }

    @Override
    public void connect(byte[] peer) throws IOException {
        ByteBuffer address = ByteBuffer.allocateDirect(peer.length).put(peer).flip();
        endpoint = worker.newEndpoint(new UcpEndpointParams().setUcpAddress(address).setPeerErrorHandlingMode());
        for (int i = 0; i < receives.length; i++) {
            receives[i] = startReceive(i);
        }
        send(1, Math.min(size, SMALL));
        receive(1, Math.min(size, SMALL));
        // the first message has arrived before all transports are connected, which goes on while both make progress
        for (long end = System.nanoTime() + SETTLING_NANOS; System.nanoTime() - end < 0;) {
            if (progress() == 0) {
                idle.run();
            }
        }
    }

    private UcpRequest startReceive(int slot) {
        return worker.recvTaggedNonBlocking(start + (long) slot * size, size, TAG, ALL_BITS, null, registered);
    }

    private UcpRequest startSend(int slot, int bytes) {
        return endpoint.sendTaggedNonBlocking(start + (long) (receives.length + slot) * size, bytes, TAG, null,
                registered);
    }

    @Override
    public void send(int count, int bytes) throws IOException {
        int depth = sends.length;
        for (int i = 0; i < count; i++) {
            if (i >= depth) {
                await(sends[i % depth]);
            }
            sends[i % depth] = startSend(i % depth, bytes);
        }
        for (int i = Math.max(0, count - depth); i < count; i++) {
            await(sends[i % depth]);
        }
    }

    @Override
    public void receive(int count, int bytes) throws IOException {
        for (int i = 0; i < count; i++) {
            await(receives[next]);
            receives[next] = startReceive(next);
            next = next + 1 == receives.length ? 0 : next + 1;
        }
    }

    private void await(UcpRequest request) throws IOException {
        complete(request);
        if (request.getStatus() != 0) {
            throw new IOException("UCX status " + request.getStatus());
        }
    }

    private void complete(UcpRequest request) throws IOException {
        while (!request.isCompleted()) {
            if (progress() == 0 && !request.isCompleted()) {
                idle.run();
            }
        }
    }

    private int progress() throws IOException {
        try {
            return worker.progress();
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        if (endpoint != null) {
            for (UcpRequest receive : receives) {
                if (!receive.isCompleted()) {
                    worker.cancelRequest(receive);
                }
            }
            for (UcpRequest receive : receives) {
                complete(receive);
            }
            complete(endpoint.closeNonBlockingForce());
        }
        memory.deregister();
        worker.close();
        context.close();
    }
}
