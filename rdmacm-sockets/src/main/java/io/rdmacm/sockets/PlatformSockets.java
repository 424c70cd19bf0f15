// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
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

    PlatformSockets() throws ReflectiveOperationException {
        Method method = SocketImpl.class.getDeclaredMethod("createPlatformSocketImpl", boolean.class);
        method.setAccessible(true);
        create = MethodHandles.lookup().unreflect(method).asType(
                MethodType.methodType(SocketImpl.class, boolean.class));
    }

    Socket socket() throws IOException {
        return new Socket(implementation(false)) {
        };
    }

    ServerSocket server() throws IOException {
        return new ServerSocket(implementation(true)) {
        };
    }

    private SocketImpl implementation(boolean server) {
        try {
            return (SocketImpl) create.invokeExact(server);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
