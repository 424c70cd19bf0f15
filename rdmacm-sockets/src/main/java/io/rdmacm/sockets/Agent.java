// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.lang.instrument.Instrumentation;

/**
 * {@code -javaagent:rdmacm-sockets.jar}. This class is compiled for old JVMs, so that it can say there that it does
 * nothing: a JVM ends when the class of its agent cannot be loaded.
 */
public final class Agent {
    private static final int OLDEST = 25;

    private Agent() {
    }

    /**
     * Called before the program begins.
     *
     * @param argument the name of a file of rules, or {@code key:value,...}
     * @param instrumentation what opens the packages of the JDK
     */
    public static void premain(String argument, Instrumentation instrumentation) {
        try {
            if (version() < OLDEST) {
                System.err.println("rdmacm-sockets: INFO does nothing: needs Java " + OLDEST + " or later, this is "
                        + System.getProperty("java.specification.version"));
                return;
            }
            Class.forName("io.rdmacm.sockets.Start").getMethod("start", String.class, Instrumentation.class)
                    .invoke(null, argument, instrumentation);
        } catch (Exception | LinkageError e) {
            System.err.println("rdmacm-sockets: WARN does nothing: " + (e.getCause() == null ? e : e.getCause()));
        }
    }

    private static int version() {
        String version = System.getProperty("java.specification.version", "0");
        return version.matches("\\d{1,4}") ? Integer.parseInt(version) : 0;
    }
}
