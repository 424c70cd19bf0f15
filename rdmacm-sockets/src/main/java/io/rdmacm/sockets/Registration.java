// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

import org.slf4j.event.Level;

/** The MBean. In a class of its own, because some runtimes have no beans. */
final class Registration {
    private Registration() {
    }

    /**
     * Registers it, in a thread of its own: to start the MBean server takes long. Not before the program has opened
     * sockets, because what starts with it, such as the log manager of {@code java.util.logging}, is for programs to
     * choose first.
     */
    static void begin(Connections connections) {
        if (ModuleLayer.boot().findModule("java.management").isPresent()) {
            Thread.ofPlatform().daemon().name("rdmacm-sockets MBean").start(() -> register(connections));
        }
    }

    private static void register(Connections connections) {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(connections,
                    new ObjectName(ConnectionsMXBean.NAME));
        } catch (JMException | RuntimeException e) {
            Installation.say(Level.WARN, "the MBean cannot be registered: " + e);
        }
    }
}
