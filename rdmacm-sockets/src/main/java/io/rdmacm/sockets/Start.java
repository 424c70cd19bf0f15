// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.reflect.Method;
import java.nio.channels.spi.SelectorProvider;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/** What the agent does. */
public final class Start {
    private static final String PROVIDER = "java.nio.channels.spi.SelectorProvider";
    private static final String ASYNCHRONOUS = "java.nio.channels.spi.AsynchronousChannelProvider";

    private static final AtomicBoolean STARTED = new AtomicBoolean();

    private Start() {
    }

    /**
     * Makes all sockets of this JVM ours, unless RDMA is of no use here.
     *
     * @param argument the argument of the agent
     * @param instrumentation what opens the packages of the JDK
     * @throws ReflectiveOperationException if the JDK is not as expected
     */
    public static void start(@Nullable String argument, Instrumentation instrumentation)
            throws ReflectiveOperationException {
        if (STARTED.getAndSet(true)) {
            // The JVM starts an agent as often as it is named: in JAVA_TOOL_OPTIONS and on the command line.
            Installation.get().compareWith(argument);
            return;
        }
        open(instrumentation);
        Installation installation = Installation.set(argument);
        installation.say();
        if (installation.obstacle() != null) {
            return;
        }
        String provider = System.getProperty(PROVIDER);
        if (provider != null && !provider.equals(SocketsProvider.class.getName())) {
            Installation.say(Level.WARN, "does nothing: " + PROVIDER + " is " + provider);
            return;
        }
        System.setProperty(PROVIDER, SocketsProvider.class.getName());
        if (!(SelectorProvider.provider() instanceof SocketsProvider sockets) || sockets.shared() == null) {
            Installation.say(Level.WARN, "does nothing: channels were opened before it was started");
            return;
        }
        if (System.getProperty(ASYNCHRONOUS) == null) {
            System.setProperty(ASYNCHRONOUS, SocketsAsynchronousProvider.class.getName());
        }
        if (installation.settings().plain()) {
            plain(sockets.shared(), instrumentation);
        }
        FileTransfers.install(instrumentation);
    }

    /** Opens what is used of the JDK to the class path. */
    private static void open(Instrumentation instrumentation) throws ReflectiveOperationException {
        Module own = Start.class.getModule();
        Module base = Object.class.getModule();
        instrumentation.redefineModule(base, Set.of(), Map.of("sun.nio.ch", Set.of(own)),
                Map.of("java.net", Set.of(own), "java.lang", Set.of(own)), Set.of(), Map.of());
        // As --enable-native-access=ALL-UNNAMED.
        Method enable = Module.class.getDeclaredMethod("implAddEnableNativeAccessToAllUnnamed");
        enable.setAccessible(true);
        enable.invoke(null);
    }

    private static void plain(Shared shared, Instrumentation instrumentation) {
        if (System.getProperty("socksProxyHost") != null) {
            Installation.say(Level.INFO, "leaves java.net.Socket alone, because of socksProxyHost");
            return;
        }
        try {
            PlainFactories.install(shared, instrumentation);
        } catch (ReflectiveOperationException | UnmodifiableClassException | IOException | RuntimeException
                | LinkageError e) {
            Installation.say(Level.WARN, "leaves java.net.Socket alone: " + e);
        }
    }
}
