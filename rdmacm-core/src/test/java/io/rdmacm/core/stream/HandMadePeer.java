// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.work.WorkCompletionOpcode;

/** A client that knows the bytes of the protocol, and a stream that it is connected to. */
final class HandMadePeer implements AutoCloseable {
    static final int CREDITS = 16;
    /** Where in its end this peer has its buffer, and its size. */
    static final int BUFFER = 4096;
    // where it has its target list, and what it sends and receives on iWARP
    private static final int TARGETS = 0;
    private static final int MESSAGE = 1024;
    private static final int RECEIVED = 2048;

    final End end;
    final RdmaStream stream;
    final boolean iwarp = RdmaTestDevice.get().isIwarp();
    private final Streams streams;
    private final EventChannel channel = EventChannel.open();
    private final CmId id;
    private final SendRequest message = SendRequests.allocate(1, 1).get(0);
    private ConnectData other;

    HandMadePeer() throws Exception {
        this(CREDITS);
    }

    /** A stream with so many receives. */
    HandMadePeer(int receives) throws Exception {
        streams = new Streams(StreamSettings.builder().receiveBufferSize(BUFFER).receiveQueueSize(receives)
                .mapSlots(1).build());
        id = Loopback.resolved(channel, streams.server.localAddress());
        end = new End(id);
        for (int i = 0; i < CREDITS; i++) {
            ReceiveRequest receive = iwarp ? end.receive.data(end.region, RECEIVED, 4) : end.receive.noData();
            end.queuePair.postReceive(receive);
        }
        id.connect(ConnectionParameters.builder().privateData(data().encode()).build());
        try (CmEvent event = channel.await(id, CmEventType.ESTABLISHED, Streams.TIMEOUT)) {
            other = ConnectData.decode(event.privateData());
        }
        stream = streams.server.accept(Streams.TIMEOUT);
    }

    private ConnectData data() {
        return new ConnectData(ConnectData.isBigEndianHere(), CREDITS, 0, end.region.remoteAddress() + TARGETS, 2,
                end.region.remoteKey(), end.region.remoteAddress() + BUFFER, BUFFER, end.region.remoteKey());
    }

    /** What the stream told this peer. */
    ConnectData other() {
        return other;
    }

    /** Sets the bytes that are sent. */
    void fill(byte[] bytes) {
        MemorySegment.copy(bytes, 0, end.region.memory(), ValueLayout.JAVA_BYTE, BUFFER, bytes.length);
    }

    /** Sends a message, with bytes that are written to the buffer of the stream. */
    void send(int text, int length) throws Exception {
        write(BUFFER, length, other.buffer(), other.bufferKey(), text);
    }

    /** Sends a message without bytes. */
    void send(int text) throws Exception {
        if (iwarp) {
            end.region.memory().set(ValueLayout.JAVA_INT, MESSAGE, text);
            end.queuePair.postSend(message.send().data(end.region, MESSAGE, 4));
        } else {
            end.queuePair.postSend(end.send.noData().rdmaWriteWithImmediate(0, 0, text));
        }
        awaitSent();
    }

    /** Publishes a target, in an entry of the list of the stream. */
    void publish(int index, int length, int text) throws Exception {
        writeTarget(index, length);
        send(text);
    }

    /** Writes a target to an entry of the list of the stream, which is not told. */
    void writeTarget(int index, int length) throws Exception {
        end.region.memory().set(ValueLayout.JAVA_LONG, BUFFER, end.region.remoteAddress() + BUFFER);
        end.region.memory().set(ValueLayout.JAVA_INT, BUFFER + 8, end.region.remoteKey());
        end.region.memory().set(ValueLayout.JAVA_INT, BUFFER + 12, length);
        writeSilently(BUFFER, 16, other.targets() + 16L * index, other.targetKey());
    }

    private void writeSilently(int from, int length, long address, int key) throws Exception {
        end.queuePair.postSend(end.send.data(end.region, from, length).rdmaWrite(address, key));
        awaitSent();
    }

    private void write(int from, int length, long address, int key, int text) throws Exception {
        if (iwarp) {
            writeSilently(from, length, address, key);
            send(text);
        } else {
            end.queuePair.postSend(end.send.data(end.region, from, length).rdmaWriteWithImmediate(address, key, text));
            awaitSent();
        }
    }

    /** Whether or not the stream has ended the connection meanwhile. */
    void awaitSent() throws Exception {
        while (true) {
            while (end.completions.next()) {
                if (!end.completions.succeeded() || end.completions.opcode() != WorkCompletionOpcode.RECV
                        && end.completions.opcode() != WorkCompletionOpcode.RECV_RDMA_WITH_IMM) {
                    return;
                }
            }
            end.queue.await(end.completions, Streams.TIMEOUT);
        }
    }

    /** The stream must have found out. */
    void assertRefused(String message) {
        assertThatExceptionOfType(StreamProtocolException.class)
                .isThrownBy(() -> {
                    while (true) {
                        stream.read(ByteBuffer.allocate(8192), Streams.TIMEOUT);
                    }
                }).withMessageContaining(message);
        assertThatThrownBy(() -> stream.write(ByteBuffer.allocate(1))).isInstanceOf(StreamProtocolException.class);
        assertThat(stream.poll() & RdmaStream.ENDED).isNotZero();
        assertThatThrownBy(() -> channel.await(id, CmEventType.ESTABLISHED, Streams.TIMEOUT))
                .isInstanceOf(DisconnectedException.class);
    }

    @Override
    public void close() throws RdmaException {
        stream.close();
        end.close();
        channel.close();
        streams.close();
    }
}
