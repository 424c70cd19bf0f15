// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * A byte stream over RDMA, in Valkey's protocol. A control message has 32 bytes in network byte order: a kind of two
 * bytes, and in a REGISTER the address, length and key of the memory that the peer may write to.
 */
final class RdmaStream implements ByteStream {
    private static final int CONTROL = 32;
    private static final short KEEPALIVE = 2;
    private static final short REGISTER = 3;
    private static final int ADDRESS_AT = 16;
    private static final int LENGTH_AT = 24;
    private static final int KEY_AT = 28;

    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    // the memory that is written from, and the memory that the server writes to
    private static final int BYTES = 1 << 20;
    // The server does not retry: a write or a keepalive that finds no receive buffer ends the connection.
    private static final int RECEIVES = 1024;

    private final Resources resources = new Resources();
    private final Connection connection;
    // where the server writes: bytes from read to arrived are to be read
    private final MemoryRegion in;
    private final ByteBuffer inBytes;
    private int arrived;
    private int read;
    // where this side writes from: bytes up to filled may still be in use
    private final MemoryRegion out;
    private final ByteBuffer outBytes;
    private int filled;
    // where this side writes to, and how far it has come; no memory until the server says where
    private long serverAddress;
    private int serverKey;
    private int serverLength;
    private int written;

    private RdmaStream(Connection connection) throws IOException, InterruptedException {
        this.connection = connection;
        boolean made = false;
        try {
            out = resources.add(connection.protectionDomain().allocate(BYTES));
            in = resources.add(connection.protectionDomain().allocate(BYTES, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_WRITE));
            outBytes = out.memory().asByteBuffer();
            inBytes = in.memory().asByteBuffer();
            register();
            made = true;
        } finally {
            // Before the memory is freed: afterwards the server cannot write to it any more.
            resources.onClose(connection::close);
            if (!made) {
                resources.close();
            }
        }
    }

    static RdmaStream connect(ConnectionManager manager, InetSocketAddress server, WaitPolicy waiting)
            throws IOException, InterruptedException {
        return new RdmaStream(manager.connect(server, ConnectionSettings.builder().messageSize(CONTROL)
                .receiveBuffers(RECEIVES).waiting(waiting).build(), TIMEOUT));
    }

    /** Returns the name of the device through which the server is reached. */
    String deviceName() {
        return connection.protectionDomain().context().deviceName();
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException, InterruptedException {
        while (bytes.hasRemaining()) {
            while (written == serverLength) {
                handleMessage();
            }
            int length = Math.min(Math.min(bytes.remaining(), BYTES - filled), serverLength - written);
            outBytes.put(filled, bytes, bytes.position(), length);
            bytes.position(bytes.position() + length);
            write(length);
            written += length;
        }
    }

    /** Waits only when all memory has been used: the end of a write is that of all before it. */
    private void write(int length) throws IOException, InterruptedException {
        long address = serverAddress + written;
        boolean last = filled + length == BYTES;
        if (last || !connection.queue().writeWithImmediate(out, filled, length, address, serverKey, length, null, 0)) {
            connection.writeWithImmediate(out, filled, length, address, serverKey, length, TIMEOUT);
        }
        filled = last ? 0 : filled + length;
    }

    @Override
    public void read(ByteBuffer target) throws IOException, InterruptedException {
        if (read == BYTES) {
            register();
        }
        while (read == arrived) {
            handleMessage();
        }
        int length = Math.min(target.remaining(), arrived - read);
        target.put(target.position(), inBytes, read, length).position(target.position() + length);
        read += length;
    }

    @Override
    public void close() throws IOException {
        resources.close();
    }

    /** Tells the server to write to all of the memory, from its beginning. */
    private void register() throws IOException, InterruptedException {
        arrived = 0;
        read = 0;
        connection.send(ByteBuffer.allocate(CONTROL).putShort(0, REGISTER).putLong(ADDRESS_AT, in.remoteAddress())
                .putInt(LENGTH_AT, BYTES).putInt(KEY_AT, in.remoteKey()), TIMEOUT);
    }

    /** Waits for a write or a control message of the server. */
    private void handleMessage() throws IOException, InterruptedException {
        try (Message message = connection.receive(TIMEOUT)) {
            if (message.isRemoteWrite()) {
                if (message.immediate() < 0 || message.immediate() > BYTES - arrived) {
                    throw new IOException("the server writes past the end of the memory");
                }
                arrived += message.immediate();
                return;
            }
            ByteBuffer control = message.memory().asByteBuffer();
            if (control.remaining() == CONTROL && control.getShort(0) == REGISTER) {
                serverAddress = control.getLong(ADDRESS_AT);
                serverLength = control.getInt(LENGTH_AT);
                serverKey = control.getInt(KEY_AT);
                written = 0;
            } else if (control.remaining() != CONTROL || control.getShort(0) != KEEPALIVE) {
                throw new IOException("the server sent an unknown control message of " + control.remaining()
                        + " bytes");
            }
        }
    }
}
