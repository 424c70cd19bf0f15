// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** The agent for JVMs that tests start. */
final class AgentJar {
    private AgentJar() {
    }

    /** Skips a test of what is over RDMA where the agent does not take the device. */
    static void assumeTakesDevice() {
        RdmaTestDevice.assumeNotIwarp("its ports are those of TCP, so the agent leaves it to TCP");
    }

    /** Makes a jar without classes, for JVMs that have them on their class path. */
    static Path in(Path folder) throws IOException {
        return in(folder, Agent.class);
    }

    static Path in(Path folder, Class<?> agent) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", agent.getName());
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        Path jar = folder.resolve("agent.jar");
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        return jar;
    }

    /** Returns what the agent has written, without what SLF4J writes where the tests have no provider of it. */
    static List<String> lines(ForkedJvm.Result result) {
        return result.errors().lines().filter(line -> !line.startsWith("SLF4J(W)")).toList();
    }

    /** Returns the jar with everything in it, which is made after the tests of the build. */
    static Optional<Path> packaged() throws URISyntaxException {
        Path classes = Path.of(Agent.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        return Optional.of(classes.resolveSibling("rdmacm-sockets.jar")).filter(Files::exists);
    }
}
