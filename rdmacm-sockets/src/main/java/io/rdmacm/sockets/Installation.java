// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.ObjectName;

import io.rdmacm.core.EventChannel;
import io.rdmacm.core.nio.RdmaSelectorProvider;
import org.jspecify.annotations.Nullable;
import sun.nio.ch.DefaultSelectorProvider;

/**
 * What this JVM does, decided once.
 *
 * @param settings what was asked for
 * @param networks the networks of the devices
 * @param obstacle why RDMA is of no use here, null if it is
 */
record Installation(Settings settings, DeviceNetworks networks, @Nullable String obstacle) {
    private static final Path SYSFS = Path.of("/sys");
    private static @Nullable Installation instance;

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
        String wanted = argument == null || argument.isBlank() ? System.getProperty(Settings.PROPERTY) : argument;
        instance = decide(wanted);
        return instance;
    }

    static Installation decide(@Nullable String argument) {
        DeviceNetworks networks = new DeviceNetworks(SYSFS);
        try {
            return new Installation(Settings.parse(argument), networks, obstacle(networks));
        } catch (IOException | RuntimeException e) {
            return new Installation(Settings.DEFAULTS, networks, e.toString());
        }
    }

    private static @Nullable String obstacle(DeviceNetworks networks) {
        if (networks.isEmpty()) {
            return "this machine has no RDMA device with an IP address";
        }
        try {
            EventChannel.open().close();
            return null;
        } catch (IOException | RuntimeException | LinkageError e) {
            return e.getMessage();
        }
    }

    /** Says in one line what is done, and why. */
    void say() {
        say("INFO", state());
    }

    static void say(String level, String text) {
        System.err.println("rdmacm-sockets: " + level + " " + text);
    }

    String state() {
        if (obstacle != null) {
            return "does nothing, all connections are over TCP: " + obstacle;
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
        Connections connections = new Connections(state());
        synchronized (Installation.class) {
            if (this == instance) {
                register(connections);
            }
        }
        return new Shared(provider, jdk, RdmaSelectorProvider.instance(), new Choice(settings, networks),
                new Connector(provider), connections);
    }

    /** Later, because to start the MBean server takes long, and programs may choose it first. */
    private static void register(Connections connections) {
        if (ModuleLayer.boot().findModule("java.management").isEmpty()) {
            return;
        }
        Thread.ofPlatform().daemon().name("rdmacm-sockets MBean").start(() -> {
            try {
                ManagementFactory.getPlatformMBeanServer()
                        .registerMBean(connections, new ObjectName(ConnectionsMXBean.NAME));
            } catch (JMException | RuntimeException e) {
                say("WARN", "the MBean cannot be registered: " + e);
            }
        });
    }

    /** Returns the JDK's own provider. */
    static SelectorProvider jdkProvider() {
        try {
            return DefaultSelectorProvider.get();
        } catch (IllegalAccessError e) {
            throw new IllegalStateException("the JDK's own channels cannot be reached: add --add-exports "
                    + "java.base/sun.nio.ch=ALL-UNNAMED, or use -javaagent:rdmacm-sockets.jar", e);
        }
    }
}
