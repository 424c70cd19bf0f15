// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketImpl;

/** Makes sockets of the JDK, whatever factory there is for those of the program. */
final class PlatformSockets {
    private final MethodHandle create;
    private final MethodHandle input;
    private final MethodHandle output;

    PlatformSockets() throws ReflectiveOperationException {
        create = handle(SocketImpl.class, "createPlatformSocketImpl", boolean.class).asType(
                MethodType.methodType(SocketImpl.class, boolean.class));
        MethodHandle implementation = handle(Socket.class, "impl");
        input = MethodHandles.filterArguments(handle(SocketImpl.class, "getInputStream"), 0, implementation);
        output = MethodHandles.filterArguments(handle(SocketImpl.class, "getOutputStream"), 0, implementation);
    }

    private static MethodHandle handle(Class<?> type, String name, Class<?>... parameters)
            throws ReflectiveOperationException {
        Method method = type.getDeclaredMethod(name, parameters);
        method.setAccessible(true);
        return MethodHandles.lookup().unreflect(method);
    }

    Socket socket() throws IOException {
        return new Socket(implementation(false)) {
        };
    }

    ServerSocket server() throws IOException {
        return new ServerSocket(implementation(true)) {
        };
    }

    /** Returns the input of a socket as that of the program needs it, which closes itself and records what it does. */
    InputStream input(Socket socket) throws IOException {
        try {
            return (InputStream) input.invokeExact(socket);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns the output of a socket as that of the program needs it. */
    OutputStream output(Socket socket) throws IOException {
        try {
            return (OutputStream) output.invokeExact(socket);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private SocketImpl implementation(boolean server) throws IOException {
        try {
            return (SocketImpl) create.invokeExact(server);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static IOException unexpected(Throwable failure) {
        switch (failure) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case IOException e -> {
                return e;
            }
            default -> throw new IllegalStateException(failure);
        }
    }
}
