// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

import io.rdmacm.core.internal.nio.ChannelKeys;
import io.rdmacm.core.internal.nio.Selectable;
import io.rdmacm.verbs.internal.wait.EventFile;
import org.jspecify.annotations.Nullable;
import sun.nio.ch.SelChImpl;

/** A channel of the JDK as our selectors see it: a file, whose events say what can be done. */
final class JdkChannel implements Selectable {
    private static final int READING = SelectionKey.OP_READ | SelectionKey.OP_ACCEPT;
    private static final int WRITING = SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT;

    private final SelectableChannel channel;
    private final SelChImpl file;
    private final ChannelKeys keys;

    /**
     * A channel.
     *
     * @param keys those of the channel that it is a part of
     */
    JdkChannel(SelectableChannel channel, ChannelKeys keys) {
        this.channel = channel;
        this.file = (SelChImpl) channel;
        this.keys = keys;
    }

    /** Returns a channel that a program registers, null if it is not one of the JDK. */
    static @Nullable Selectable of(SelectableChannel channel) {
        return channel instanceof SelChImpl ? new JdkChannel(channel, new ChannelKeys()) : null;
    }

    @Override
    public int file() {
        return file.getFDVal();
    }

    @Override
    public boolean isReported() {
        return true;
    }

    @Override
    public int events(int interest) {
        return ((interest & READING) != 0 ? EventFile.READABLE : 0)
                | ((interest & WRITING) != 0 ? EventFile.WRITABLE : 0);
    }

    @Override
    public int readyOps(int events, int interest) {
        if ((events & ~(EventFile.READABLE | EventFile.WRITABLE)) != 0) {
            // An error or the end: no operation waits.
            return interest;
        }
        // A socket that is connected is writable: before that, the event means that it has just been.
        int writing = !(channel instanceof SocketChannel socket) || socket.isConnected() ? SelectionKey.OP_WRITE
                : socket.isConnectionPending() ? SelectionKey.OP_CONNECT : 0;
        return interest & (((events & EventFile.READABLE) != 0 ? READING : 0)
                | ((events & EventFile.WRITABLE) != 0 ? writing : 0));
    }

    @Override
    public int readyOps() {
        // Only the events say it.
        return 0;
    }

    @Override
    public ChannelKeys keys() {
        return keys;
    }

    @Override
    public void deregistered() throws IOException {
        // The JDK leaves the file of a registered channel open until its last selector has let go of it.
        if (!channel.isOpen() && !channel.isRegistered()) {
            file.kill();
        }
    }
}
