// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.rmi.server.UnicastRemoteObject;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Outcome;

/** A {@link Peer} in a JVM of its own, which ends with its standard input. */
final class PeerProcess implements AutoCloseable {
    private static final int HEAP_MEGABYTES = 64;

    final Peer peer;
    private final Process process;

    /**
     * Starts a process.
     *
     * @param prefix the command prefix, such as {@code taskset}
     */
    PeerProcess(List<String> prefix) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // the options of this JVM suit the machine
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter(option -> option.startsWith("-X"))
                .forEach(command::add);
        // otherwise the first access to each page of the heap would be measured too
        command.addAll(List.of("-Xms" + HEAP_MEGABYTES + "m", "-Xmx" + HEAP_MEGABYTES + "m", "-XX:+AlwaysPreTouch",
                // what is outside of the heap is not bounded by it
                "-XX:MaxDirectMemorySize=1g", "-Djava.rmi.server.hostname=127.0.0.1",
                "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
                PeerProcess.class.getName()));
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            peer = (Peer) new ObjectInputStream(process.getInputStream()).readObject();
        } catch (IOException | ClassNotFoundException e) {
            close();
            throw new IOException("the peer's process did not start", e);
        }
    }

    /** Runs in the process: tells where its peer can be called. */
    public static void main(String[] args) throws IOException {
        OutputStream out = System.out;
        // what is printed must not come between
        System.setOut(System.err);
        Local peer = new Local();
        new ObjectOutputStream(out).writeObject(UnicastRemoteObject.exportObject(peer, 0));
        out.flush();
        System.in.transferTo(OutputStream.nullOutputStream());
        System.exit(0);
    }

    private static final class Local implements Peer {
        private End end;

        @Override
        public Serializable open(End.Opener opener, End.Load load, boolean client) throws Exception {
            close();
            end = opener.open(load, client);
            return end.address();
        }

        @Override
        public Void connect(Serializable address) throws Exception {
            end.connect(address);
            return null;
        }

        @Override
        public Outcome run() throws Exception {
            return end.run();
        }

        @Override
        public Void close() throws Exception {
            End closed = end;
            end = null;
            if (closed != null) {
                closed.close();
            }
            return null;
        }
    }

    /** Kills the process. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
