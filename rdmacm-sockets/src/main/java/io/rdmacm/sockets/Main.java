// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.util.Map;
import javax.management.JMX;
import javax.management.MBeanServerConnection;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;

/** {@code java -jar rdmacm-sockets.jar PID}: prints which way the connections of a running JVM went, and why. */
public final class Main {
    private Main() {
    }

    /**
     * Prints it.
     *
     * @param arguments the process ID of the JVM
     * @throws IOException if the JVM cannot be reached
     * @throws AttachNotSupportedException if it is not one that can be attached to
     * @throws MalformedObjectNameException never
     */
    public static void main(String[] arguments)
            throws IOException, AttachNotSupportedException, MalformedObjectNameException {
        if (arguments.length != 1) {
            System.err.println("usage: java -jar rdmacm-sockets.jar PID");
            System.exit(2);
        }
        VirtualMachine machine = VirtualMachine.attach(arguments[0]);
        try (JMXConnector connector = JMXConnectorFactory.connect(
                new JMXServiceURL(machine.startLocalManagementAgent()))) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            ObjectName name = new ObjectName(ConnectionsMXBean.NAME);
            if (!server.isRegistered(name)) {
                System.out.println(machine.getSystemProperties().getProperty(Installation.STATE,
                        "this JVM has no such agent"));
                return;
            }
            print(JMX.newMXBeanProxy(server, name, ConnectionsMXBean.class));
        } finally {
            machine.detach();
        }
    }

    private static void print(ConnectionsMXBean connections) {
        System.out.println(connections.getState());
        for (Map.Entry<String, Long> count : connections.getCounts().entrySet()) {
            System.out.println(count.getValue() + " " + count.getKey());
        }
        System.out.println("the last ones:");
        connections.getRecent().forEach(System.out::println);
    }
}
