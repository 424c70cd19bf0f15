// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketImpl;

/** What sockets of another library stand on. */
final class ForeignImplementation extends SocketImpl {
    @Override
    protected void create(boolean stream) {
        // Nothing is needed.
    }

    @Override
    protected void connect(String host, int port) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void connect(InetAddress host, int port) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void connect(SocketAddress remote, int timeout) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void bind(InetAddress host, int port) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void listen(int backlog) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void accept(SocketImpl socket) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected InputStream getInputStream() {
        return InputStream.nullInputStream();
    }

    @Override
    protected OutputStream getOutputStream() {
        return OutputStream.nullOutputStream();
    }

    @Override
    protected int available() {
        return 0;
    }

    @Override
    protected void close() {
        // Nothing is open.
    }

    @Override
    protected void sendUrgentData(int data) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void setOption(int option, Object value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Object getOption(int option) {
        throw new UnsupportedOperationException();
    }
}
