// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

import io.rdmacm.core.EventChannel;
import io.rdmacm.core.internal.nio.RdmaSelector;
import io.rdmacm.core.nio.RdmaSelectorProvider;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import sun.nio.ch.DefaultAsynchronousChannelProvider;
import sun.nio.ch.DefaultSelectorProvider;

/**
 * What this JVM does, decided once.
 *
 * @param settings what was asked for
 * @param networks the networks of the devices
 * @param obstacle why RDMA is of no use here, null if it is
 */
record Installation(Settings settings, DeviceNetworks networks, @Nullable Obstacle obstacle) {
    /** The system property that says what is done, for {@link Main}. */
    static final String STATE = "io.rdmacm.sockets.state";

    private static final Path SYSFS = Path.of("/sys");
    private static @Nullable Installation instance;

    /**
     * Why RDMA is of no use.
     *
     * @param reason the reason
     * @param level that of the line about it: a machine without a device is nothing to write about unless asked for
     */
    record Obstacle(String reason, Level level) {
    }

    /** Returns that of this JVM, as the system property says. */
    static synchronized Installation get() {
        if (instance == null) {
            instance = decide(System.getProperty(Settings.PROPERTY));
            instance.say();
        }
        return instance;
    }

    /** Decides for this JVM, before {@link #get}. */
    static synchronized Installation set(@Nullable String argument) {
        instance = decide(wanted(argument));
        return instance;
    }

    private static @Nullable String wanted(@Nullable String argument) {
        return argument == null || argument.isBlank() ? System.getProperty(Settings.PROPERTY) : argument;
    }

    /** Says so if another argument asks for anything else, such as rules that will not hold. */
    void compareWith(@Nullable String argument) {
        Installation other = decide(wanted(argument));
        if (obstacle == null && !(other.obstacle == null && other.settings.equals(settings))) {
            say(Level.WARN, "was started before: \"" + argument + "\" has no effect");
        }
    }

    static Installation decide(@Nullable String argument) {
        DeviceNetworks networks = new DeviceNetworks(SYSFS);
        try {
            return new Installation(Settings.parse(argument), networks, obstacle(networks));
        } catch (IOException | RuntimeException e) {
            return new Installation(Settings.DEFAULTS, networks, new Obstacle(e.toString(), Level.WARN));
        }
    }

    private static @Nullable Obstacle obstacle(DeviceNetworks networks) {
        if (networks.isEmpty()) {
            return new Obstacle("this machine has no RDMA device with an IP address, not counting iWARP", Level.INFO);
        }
        try {
            if (RdmaSelector.class.getModule() != Installation.class.getModule()) {
                return new Obstacle("the program has a module " + RdmaSelector.class.getModule().getName()
                        + " of its own", Level.WARN);
            }
            EventChannel.open().close();
            // Whether all classes are there: some runtimes lack modules.
            RdmaSelectorProvider.instance().openSocketChannel().close();
            RdmaSelectorProvider.instance().openServerSocketChannel().close();
            RdmaSelectorProvider.instance().openSelector().close();
            return null;
        } catch (IOException | RuntimeException | LinkageError e) {
            return new Obstacle(String.valueOf(e.getMessage()), Level.INFO);
        }
    }

    /** Says in one line what is done, and why; leaves it to {@link Main} to tell that nothing is. */
    void say() {
        System.setProperty(STATE, state());
        if (obstacle == null || StandardError.writes(obstacle.level())) {
            say(obstacle == null ? Level.INFO : obstacle.level(), state());
        }
    }

    static void say(Level level, String text) {
        System.err.println("rdmacm-sockets: " + level + " " + text);
    }

    String state() {
        if (obstacle != null) {
            return "does nothing, all connections are over TCP: " + obstacle.reason();
        }
        return "connections go over RDMA where possible, and over TCP otherwise; devices: "
                + networks.networks().stream().map(of -> of.device() + " " + of.network().address().getHostAddress()
                        + "/" + of.network().prefix()).collect(Collectors.joining(", "))
                + (settings.rules().isEmpty() ? "" : "; " + settings.rules().size() + " rules");
    }

    /** Returns what the channels of a provider share; null if RDMA is of no use here. */
    @Nullable Shared share(SelectorProvider provider, SelectorProvider jdk) {
        if (obstacle != null) {
            return null;
        }
        boolean own;
        synchronized (Installation.class) {
            own = this == instance;
        }
        try {
            return new Shared(provider, jdk, RdmaSelectorProvider.instance(), new Choice(settings, networks),
                    new Connector(provider), new Connections(state(), own ? Registration::begin : _ -> { }),
                    tcpOptions(jdk));
        } catch (IOException | RuntimeException | LinkageError e) {
            say(Level.WARN, "does nothing: " + e);
            return null;
        }
    }

    /** Returns the options of the JDK's sockets, and their values when they are new. */
    private static Map<SocketOption<?>, Object> tcpOptions(SelectorProvider jdk) throws IOException {
        Map<SocketOption<?>, Object> options = new HashMap<>();
        try (SocketChannel channel = jdk.openSocketChannel()) {
            for (SocketOption<?> option : channel.supportedOptions()) {
                try {
                    Object value = channel.getOption(option);
                    if (value != null) {
                        options.put(option, value);
                    }
                } catch (IOException | RuntimeException e) {
                    // One that the kernel does not know.
                    continue;
                }
            }
        }
        return Map.copyOf(options);
    }

    /** Returns the JDK's own provider. */
    static SelectorProvider jdkProvider() {
        try {
            return DefaultSelectorProvider.get();
        } catch (IllegalAccessError e) {
            throw closed(e);
        }
    }

    /** Returns the JDK's own provider of asynchronous channels. */
    static AsynchronousChannelProvider jdkAsynchronousProvider() {
        try {
            return DefaultAsynchronousChannelProvider.create();
        } catch (IllegalAccessError e) {
            throw closed(e);
        }
    }

    private static IllegalStateException closed(IllegalAccessError failure) {
        return new IllegalStateException("the JDK's own channels cannot be reached: add --add-exports "
                + "java.base/sun.nio.ch=ALL-UNNAMED, or use -javaagent:rdmacm-sockets.jar", failure);
    }
}
