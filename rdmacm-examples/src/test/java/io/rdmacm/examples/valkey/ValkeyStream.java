// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.examples.support.Resources;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;

/**
 * A byte stream in Valkey's protocol: each side tells the other of memory, which that one fills from its beginning by
 * writes with the number of bytes as immediate value. A control message has 32 bytes in network byte order: a kind of
 * two bytes, and in a REGISTER the address, length and key of the memory.
 */
final class ValkeyStream implements AutoCloseable {
    private static final int CONTROL = 32;
    private static final short KEEPALIVE = 2;
    private static final short REGISTER = 3;
    private static final int ADDRESS_AT = 16;
    private static final int LENGTH_AT = 24;
    private static final int KEY_AT = 28;

    private static final int BYTES = 1 << 20;
    // The server does not retry: a write or a keepalive that finds no receive buffer ends the connection.
    private static final int RECEIVES = 1024;

    private final Resources resources = new Resources();
    private final Connection connection;
    private final MemoryRegion out;
    private final MemoryRegion in;
    // What is to be read ends where the server has come.
    private final ByteBuffer arrived;
    // The memory of the server, and how far this side has come.
    private RemoteMemory remote = RemoteMemory.NONE;
    private int written;

    ValkeyStream(ConnectionManager manager, InetSocketAddress server) throws IOException, InterruptedException {
        connection = manager.connect(server, ConnectionSettings.builder().messageSize(CONTROL).receiveBuffers(RECEIVES)
                .build(), Program.LIMIT);
        out = resources.add(connection.protectionDomain().allocate(BYTES));
        in = resources.add(connection.protectionDomain().allocate(BYTES, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE));
        arrived = in.memory().asByteBuffer();
        // Before the memory is freed: afterwards the server cannot write to it any more.
        resources.onClose(connection::close);
        register();
    }

    /** Sends bytes. */
    void write(ByteBuffer bytes) throws IOException, InterruptedException {
        while (bytes.hasRemaining()) {
            while (written == remote.length()) {
                handleMessage();
            }
            int length = (int) Math.min(Math.min(bytes.remaining(), BYTES), remote.length() - written);
            out.memory().asByteBuffer().put(0, bytes, bytes.position(), length);
            bytes.position(bytes.position() + length);
            connection.writeWithImmediate(out, 0, length, new RemoteMemory(remote.address() + written, remote.key(),
                    length), length, Program.LIMIT);
            written += length;
        }
    }

    /** Waits until an array is full. */
    byte[] read(byte[] bytes) throws IOException, InterruptedException {
        for (int read = 0; read < bytes.length;) {
            if (arrived.position() == BYTES) {
                register();
            }
            while (!arrived.hasRemaining()) {
                handleMessage();
            }
            int length = Math.min(bytes.length - read, arrived.remaining());
            arrived.get(bytes, read, length);
            read += length;
        }
        return bytes;
    }

    /** Has the server begin at the beginning of the memory. */
    private void register() throws IOException, InterruptedException {
        arrived.position(0).limit(0);
        connection.send(ByteBuffer.allocate(CONTROL).putShort(0, REGISTER).putLong(ADDRESS_AT, in.remoteAddress())
                .putInt(LENGTH_AT, BYTES).putInt(KEY_AT, in.remoteKey()), Program.LIMIT);
    }

    /** Waits for a write or a control message of the server. */
    private void handleMessage() throws IOException, InterruptedException {
        try (Message message = connection.receive(Program.LIMIT)) {
            if (message.isRemoteWrite()) {
                arrived.limit(arrived.limit() + message.immediate());
                return;
            }
            ByteBuffer control = message.memory().asByteBuffer();
            if (control.getShort(0) == REGISTER) {
                remote = new RemoteMemory(control.getLong(ADDRESS_AT), control.getInt(KEY_AT),
                        control.getInt(LENGTH_AT));
                written = 0;
            } else if (control.getShort(0) != KEEPALIVE) {
                throw new IOException("an unknown control message: " + control.getShort(0));
            }
        }
    }

    @Override
    public void close() throws IOException {
        resources.close();
    }
}
