// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;

import io.rdmacm.examples.support.Tcp;

/** The client over TCP: puts and gets are messages with an answer. */
final class TcpClient implements KvClient {
    private final SocketChannel channel;
    private final TcpFrames frames;

    TcpClient(InetSocketAddress server, int messageBytes) throws IOException, InterruptedException {
        channel = Tcp.connect(server);
        frames = new TcpFrames(channel, messageBytes);
    }

    @Override
    public void put(byte[] key, byte[] value) throws IOException, InterruptedException {
        KvMessage.put(frames.begin(), key, value);
        KvMessage.found(exchange());
    }

    @Override
    public byte[] get(byte[] key) throws IOException, InterruptedException {
        KvMessage.get(frames.begin(), key);
        ByteBuffer answer = exchange();
        return KvMessage.found(answer) ? KvMessage.readBytes(answer) : null;
    }

    @Override
    public long handled() throws IOException, InterruptedException {
        KvMessage.begin(frames.begin(), KvMessage.Request.COUNT);
        ByteBuffer answer = exchange();
        KvMessage.found(answer);
        return answer.getLong();
    }

    /** Returns 0: the server reads the table itself. */
    @Override
    public long tornReads() {
        return 0;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private ByteBuffer exchange() throws IOException, InterruptedException {
        try {
            frames.send();
            ByteBuffer answer = frames.receive();
            if (answer == null) {
                throw new IOException("the server has ended the TCP connection");
            }
            return answer;
        } catch (ClosedByInterruptException e) {
            throw Tcp.interrupted(e);
        }
    }
}
