// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static java.lang.constant.ConstantDescs.CD_void;

import java.io.IOException;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketImpl;
import java.net.SocketImplFactory;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The factories of the sockets without channels. The JDK takes one of each, once; ours step back when the program has
 * its own.
 */
final class PlainFactories implements Runnable {
    private static final ClassDesc FACTORY = SocketImplFactory.class.describeConstable().orElseThrow();
    private static final ClassDesc STEP = Runnable.class.describeConstable().orElseThrow();

    private final VarHandle clients = field(Socket.class);
    private final VarHandle servers = field(ServerSocket.class);

    private PlainFactories() throws ReflectiveOperationException {
        // Where the JDK keeps them.
    }

    private static VarHandle field(Class<?> type) throws ReflectiveOperationException {
        return MethodHandles.privateLookupIn(type, MethodHandles.lookup())
                .findStaticVarHandle(type, "factory", SocketImplFactory.class);
    }

    /** A factory that knows how to step back. */
    private record Factory(Supplier<SocketImpl> sockets, Runnable stepBack) implements SocketImplFactory, Runnable {
        @Override
        public SocketImpl createSocketImpl() {
            return sockets.get();
        }

        @Override
        public void run() {
            stepBack.run();
        }
    }

    /** Makes the sockets of this JVM ours, until the program wants others. */
    @SuppressWarnings("deprecation") // there is no other way
    static void install(Shared shared, Instrumentation instrumentation)
            throws ReflectiveOperationException, UnmodifiableClassException, IOException {
        PlatformSockets platform = new PlatformSockets();
        PlainFactories factories = new PlainFactories();
        Beginnings.install(instrumentation, Map.of(
                Socket.class, Map.of("setSocketImplFactory", code -> askToStepBack(code, Socket.class)),
                ServerSocket.class, Map.of("setSocketFactory", code -> askToStepBack(code, ServerSocket.class))));
        Socket.setSocketImplFactory(new Factory(() -> new PlainSocket(shared, platform), factories));
        ServerSocket.setSocketFactory(new Factory(() -> new PlainServer(shared, platform), factories));
    }

    /** Begins a method that is to set a factory: the present one steps back if it knows how to. */
    private static void askToStepBack(CodeBuilder code, Class<?> type) {
        ClassDesc of = type.describeConstable().orElseThrow();
        code.getstatic(of, "factory", FACTORY).instanceOf(STEP).ifThen(
                then -> then.getstatic(of, "factory", FACTORY).checkcast(STEP)
                        .invokeinterface(STEP, "run", MethodTypeDesc.of(CD_void)));
    }

    /** Both step back, because a program's own server accepts sockets of its own only. */
    @Override
    public void run() {
        clients.setVolatile((SocketImplFactory) null);
        servers.setVolatile((SocketImplFactory) null);
    }
}
