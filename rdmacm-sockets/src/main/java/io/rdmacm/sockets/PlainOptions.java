// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketOptions;
import java.net.StandardSocketOptions;

/** The options of {@link SocketOptions}, by number, as methods of a {@link Socket}. */
final class PlainOptions {
    private PlainOptions() {
    }

    static void set(Socket socket, int option, Object value) throws SocketException {
        switch (option) {
            case SocketOptions.TCP_NODELAY -> socket.setTcpNoDelay((Boolean) value);
            case SocketOptions.SO_LINGER -> {
                // False stands for none.
                boolean on = value instanceof Integer;
                socket.setSoLinger(on, on ? (Integer) value : 0);
            }
            case SocketOptions.SO_TIMEOUT -> socket.setSoTimeout((Integer) value);
            case SocketOptions.SO_SNDBUF -> socket.setSendBufferSize((Integer) value);
            case SocketOptions.SO_RCVBUF -> socket.setReceiveBufferSize((Integer) value);
            case SocketOptions.SO_KEEPALIVE -> socket.setKeepAlive((Boolean) value);
            case SocketOptions.SO_OOBINLINE -> socket.setOOBInline((Boolean) value);
            case SocketOptions.IP_TOS -> socket.setTrafficClass((Integer) value);
            case SocketOptions.SO_REUSEADDR -> socket.setReuseAddress((Boolean) value);
            case SocketOptions.SO_REUSEPORT -> setReusePort(socket, (Boolean) value);
            default -> throw new SocketException("no option " + option);
        }
    }

    private static void setReusePort(Socket socket, boolean on) throws SocketException {
        try {
            socket.setOption(StandardSocketOptions.SO_REUSEPORT, on);
        } catch (SocketException e) {
            throw e;
        } catch (IOException e) {
            throw new SocketException(e.getMessage(), e);
        }
    }

    static Object get(Socket socket, int option) throws SocketException {
        return switch (option) {
            case SocketOptions.TCP_NODELAY -> socket.getTcpNoDelay();
            case SocketOptions.SO_LINGER -> socket.getSoLinger();
            case SocketOptions.SO_TIMEOUT -> socket.getSoTimeout();
            case SocketOptions.SO_SNDBUF -> socket.getSendBufferSize();
            case SocketOptions.SO_RCVBUF -> socket.getReceiveBufferSize();
            case SocketOptions.SO_KEEPALIVE -> socket.getKeepAlive();
            case SocketOptions.SO_OOBINLINE -> socket.getOOBInline();
            case SocketOptions.IP_TOS -> socket.getTrafficClass();
            case SocketOptions.SO_REUSEADDR -> socket.getReuseAddress();
            case SocketOptions.SO_BINDADDR -> socket.getLocalAddress();
            default -> throw new SocketException("no option " + option);
        };
    }
}
