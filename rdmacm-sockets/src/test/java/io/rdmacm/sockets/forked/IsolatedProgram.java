// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets.forked;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.logging.LogManager;
import java.util.logging.Logger;

/**
 * A program that is loaded as an application server loads one: by a class loader that does not ask that of the class
 * path, and after it has chosen its log manager.
 */
public final class IsolatedProgram {
    private IsolatedProgram() {
    }

    /** A log manager of a program. */
    public static final class Manager extends LogManager {
    }

    /** Runs HttpProgram; the arguments are its own. */
    public static void main(String[] arguments) throws Exception {
        System.setProperty("java.util.logging.manager", Manager.class.getName());
        URL classes = IsolatedProgram.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
            Thread.currentThread().setContextClassLoader(loader);
            Class<?> program = loader.loadClass(HttpProgram.class.getName());
            System.out.println("isolated " + (program != HttpProgram.class));
            Thread.ofPlatform().start(() -> {
                Logger.getLogger("program").fine("begins");
                System.out.println("manager " + (LogManager.getLogManager() instanceof Manager));
            }).join();
            program.getMethod("main", String[].class).invoke(null, (Object) arguments);
        }
    }
}
